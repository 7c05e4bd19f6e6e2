/**
 * The state of the application for members that come in. All members derive from the standings of an epoch who sends it (the first in rank order
 * that offers one and lacks none) and who gets it (those that lack it); it travels among these alone, as an op that has a number of its own
 * on every member.
 *
 * Of which moment it is: the epoch's ops need all its members, newcomers included, and a newcomer calls none before it has the state. So the state
 * after the last op before the boundary is the state until then, and the source may take it at any time once those ops have ended.
 */
import type { Clock } from '../base/clock.ts'
import { createDeferred, type Deferred } from '../base/deferred.ts'
import { PapilioError, PeerLostError, ProtocolError, TimeoutError } from '../base/errors.ts'
import type { Member } from '../membership/types.ts'
import { findAlgorithm } from '../schedule/registry.ts'
import { dtypes } from '../wire/dtype.ts'
import { createHasher } from '../wire/hash.ts'
import { resolveOperator } from '../wire/resolve.ts'
import type { Calls } from './calls.ts'
import { type Control, maxStateBytes } from './control.ts'
import type { Engine } from './engine.ts'
import type { Span } from './epochs.ts'
import { planOf } from './plan.ts'
import { type Attempt, Interruption, nameOf } from './recovery.ts'
import type { ReceivedState, StateProvider } from './types.ts'

/** How often the source looks whether its earlier ops have ended, and how long it then waits for the application to take in their results. */
const pollSeconds = 0.02
const applySeconds = 0.05
/** From the beginning of the epoch to the announcement. */
const patienceSeconds = 30
const transferSeconds = 120

type Announcement = Extract<Control, { type: 'state' }>

export interface States {
  readonly offers: boolean
  /** This member has yet to learn the state that others have. */
  readonly needs: boolean
  offer(provider: StateProvider): () => void
  received(): Promise<ReceivedState | undefined>
  /** The epoch has begun; `op` is the number of its transfer, which takes place when the span says so. */
  begin(op: number, span: Span): void
  heard(peerId: string, announcement: Announcement): void
  end(): void
}

export function createStates(config: {
  clock: Clock
  engine: Engine
  calls: Pick<Calls, 'run'>
  tell(control: Control, peerId: string): void
}): States {
  const { clock, engine, calls } = config
  const answer = createDeferred<ReceivedState | undefined>()
  answer.promise.catch(() => {})
  let provider: StateProvider | undefined
  let needs = true
  /** Whom this member waits for. */
  let awaited: { op: number; source: Member; announced: Deferred<Announcement> } | undefined

  const settle = (settleIt: () => void) => {
    needs = false
    settleIt()
  }

  const transfer = (op: number, attempt: Attempt, data: Uint8Array, result: Uint8Array) => {
    const plan = planOf(
      findAlgorithm('chain', 'broadcast'),
      { root: 0 },
      attempt.members.length,
      Math.max(data.length, result.length),
    )
    const operator = resolveOperator('bor', dtypes.u8)
    const vector = {
      collective: 'broadcast' as const,
      dtype: dtypes.u8,
      data,
      result,
      operator,
      count: result.length,
    }
    return calls.run(op, attempt, plan, vector, { name: 'state' }, { timeoutSeconds: transferSeconds })
  }

  const whenEnded = (boundary: number) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (engine.oldestOp() >= boundary) clock.after(applySeconds, resolve)
        else clock.after(pollSeconds, look)
      }
      look()
    })

  const give = async (op: number, attempt: Attempt, boundary: number) => {
    await engine.unlessFailed(op, whenEnded(boundary))
    const given = await engine.unlessFailed(op, Promise.resolve(provider?.()))
    if (!(given instanceof Uint8Array))
      throw new PapilioError('INVALID_ARGUMENT', 'The state that was offered is no Uint8Array.')
    if (given.length > maxStateBytes)
      throw new PapilioError('TOO_LARGE', `A state has at most ${maxStateBytes} bytes, not ${given.length}.`)
    // The application goes on with its own.
    const data = given.slice()
    const hash = createHasher().add(data).digest()
    for (const { peerId } of attempt.members.slice(1))
      config.tell({ type: 'state', op, bytes: data.length, hash }, peerId)
    await transfer(op, attempt, data, new Uint8Array(data.length))
  }

  const take = async (op: number, attempt: Attempt, announced: Promise<Announcement>) => {
    const begun = clock.now()
    const source = attempt.members[0]!
    const { bytes, hash } = await engine.unlessFailed(op, announced)
    const data = new Uint8Array(bytes)
    await transfer(op, attempt, new Uint8Array(0), data)
    if (createHasher().add(data).digest() !== hash)
      throw new ProtocolError(`the state from ${source.name} is not the one that it has announced`)
    const { epoch } = attempt
    settle(() => answer.resolve({ data, from: source, epoch, hash, seconds: clock.now() - begun }))
  }

  const lost = ({ name, peerId }: Member, epoch: number) =>
    new PeerLostError(`${name} left before it had passed on the state, and nobody else offers one.`, {
      peer: { rank: -1, peerId, name },
      epoch,
    })

  return {
    get offers() {
      return provider !== undefined
    },
    get needs() {
      return needs
    },
    offer(given) {
      provider = given
      return () => {
        if (provider === given) provider = undefined
      }
    },
    received: () => answer.promise,
    begin(op, span) {
      const before = awaited
      awaited = undefined
      const { state, epoch, rank, members } = span
      const self = members[rank]!
      if (!state) {
        if (needs)
          settle(() => (before ? answer.reject(lost(before.source, epoch)) : answer.resolve(undefined)))
        return
      }
      engine.call(op, span)
      const all = [state.source, ...state.needy]
      const attempt: Attempt = {
        epoch,
        members: all,
        rank: all.findIndex(({ peerId }) => peerId === self.peerId),
      }
      if (attempt.rank < 0) {
        engine.abandon(op, new Interruption('the state is for others'))
        return
      }
      // A loss begins another epoch, and with it another transfer.
      const isOver = (error: unknown) => error instanceof Interruption
      if (attempt.rank === 0) {
        give(op, attempt, span.boundary).catch((error: Error) => engine.abandon(op, error))
        return
      }
      const announced = createDeferred<Announcement>()
      announced.promise.catch(() => {})
      awaited = { op, source: state.source, announced }
      const waitingFor = [nameOf(span, members.indexOf(state.source))]
      const message = `${state.source.name} has not sent the state within ${patienceSeconds} s.`
      const cancel = clock.after(patienceSeconds, () =>
        announced.reject(new TimeoutError(message, { op, step: 0, waitingFor })),
      )
      take(op, attempt, announced.promise)
        .catch((error: Error) => {
          engine.abandon(op, error)
          if (!isOver(error)) settle(() => answer.reject(error))
        })
        .finally(cancel)
    },
    heard(peerId, announcement) {
      if (awaited?.op !== announcement.op || awaited.source.peerId !== peerId) return
      awaited.announced.resolve(announcement)
    },
    end() {
      if (needs) settle(() => answer.reject(new PapilioError('LEFT', 'This peer has left the group.')))
    },
  }
}
