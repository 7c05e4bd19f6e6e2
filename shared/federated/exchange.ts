/** The two large movements of a round: the state for those that lack it, and everybody's updates for the next state. */
import { ProtocolError } from '../base/errors.ts'
import type { Group, Report } from '../collective/types.ts'
import { type Aggregator, foldExtras } from './aggregate.ts'
import { agreeOnHash } from './agree.ts'
import { decodeCheckpoint, encodeCheckpoint, maxCheckpointBytes, type RunState } from './checkpoint.ts'
import type { Decision } from './decide.ts'
import { type CallOptions, type Place, unlessLost } from './meeting.ts'
import type { ServerOptimizer } from './optimizer.ts'
import { hashOfState, layoutOf, nextState } from './replica.ts'
import type { Turn } from './turn.ts'

/**
 * The source's state, on all members: those that have another take it. Undefined, on all alike, when the source was lost on the way.
 */
export async function shareState(
  group: Group,
  { source }: Decision,
  own: RunState,
  place: Place,
  call: CallOptions,
): Promise<{ state: RunState; bytes: number; report: Report } | undefined> {
  const { peer, stateBytes } = source
  if (stateBytes > maxCheckpointBytes)
    throw new ProtocolError(`${peer.name} has announced a state of ${stateBytes} bytes`)
  const isSource = peer.peerId === group.peerId
  const bytes = isSource ? encodeCheckpoint(own) : new Uint8Array(stateBytes)
  const options = { ...call, epoch: place.epoch, name: 'state for newcomers', root: peer.peerId }
  const sent = await unlessLost(group.broadcast(bytes, options))
  if (!sent) return undefined
  const kept = { bytes: stateBytes, report: sent.report }
  if (hashOfState(own) === source.state) return { ...kept, state: own }
  const state = decodeCheckpoint(sent.data)
  if (state.manifest !== own.manifest || hashOfState(state) !== source.state)
    throw new ProtocolError(`the state from ${peer.name} is not the one that was announced`)
  return { ...kept, state }
}

export interface Exchange {
  readonly group: Group
  readonly place: Place
  readonly call: CallOptions
  readonly aggregator: Aggregator
  readonly optimizer: ServerOptimizer
  readonly bucketBytes: number
}

export interface Exchanged {
  readonly state: RunState
  /** Of the step from the state before. */
  readonly norm: number
  readonly hash: string
  readonly reports: readonly Report[]
}

/**
 * The next state, once all members have said that theirs is the same. Undefined, on all alike: a member was lost on the way. Nothing of this
 * member has changed before it returns.
 */
export async function exchangeUpdates(
  { group, place, call, aggregator, optimizer, bucketBytes }: Exchange,
  { counted }: Decision,
  turn: Turn,
  state: RunState,
): Promise<Exchanged | undefined> {
  const samples = new Map(counted.map((row) => [row.peer.peerId, row.samples]))
  const layout = layoutOf(turn.entries)
  const update = samples.has(group.peerId) ? turn.update : new Float32Array(layout.update.count)
  const shared = { group, place, call, samples, bucketBytes }
  const peak = Math.max(...counted.map((row) => row.peak))
  const aggregated = await aggregator.run({ ...shared, update, peak })
  const extras = aggregated && (await foldExtras(layout.extras, turn.entries, shared))
  if (!aggregated || !extras) return undefined
  const next = nextState(state, turn.entries, optimizer, aggregated.update, extras.vectors)
  const hash = hashOfState(next.state)
  const agreed = await agreeOnHash(group, hash, place, call)
  aggregated.settle?.()
  return { ...next, hash, reports: [...aggregated.reports, ...extras.reports, agreed] }
}
