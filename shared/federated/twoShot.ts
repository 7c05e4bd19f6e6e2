/**
 * The two-shot exchange with a look at everything: each member owns one chunk of the vector, gets everybody's contribution to it, and
 * gives its own result to all. As many bytes as a sum: every member sends (P - 1) / P of the vector twice.
 */
import type { Group, Report } from '../collective/types.ts'
import { type CallOptions, type Place, unlessLost } from './meeting.ts'

export interface Owned {
  /** By rank: what that rank contributes to this member's chunk. */
  readonly rows: readonly Float32Array[]
  readonly begin: number
  readonly length: number
  readonly report: Report
}

/** Elements of a chunk; the last ones may be filled up. */
export const chunkLength = (count: number, size: number) => Math.ceil(count / size)

/** Undefined, on all ranks alike: a member was lost on the way. */
export async function toOwners(
  group: Group,
  vector: Float32Array,
  place: Place,
  call: CallOptions,
): Promise<Owned | undefined> {
  const size = place.members.length
  const length = chunkLength(vector.length, size)
  const rank = rankIn(group, place)
  const filled = new Float32Array(size * length)
  filled.set(vector)
  const options = { ...call, epoch: place.epoch, name: 'round: to the owners', onPeerLost: 'abort' } as const
  const sent = await together(group, place, call, group.alltoall(filled, options))
  if (!sent) return undefined
  const rows = Array.from({ length: size }, (_, from) =>
    sent.data.subarray(from * length, (from + 1) * length),
  )
  return { rows, begin: rank * length, length, report: sent.report }
}

/** Everybody's finished chunk, as one vector of `count` elements. Undefined as above. */
export async function fromOwners(
  group: Group,
  chunk: Float32Array,
  count: number,
  place: Place,
  call: CallOptions,
): Promise<{ vector: Float32Array; report: Report } | undefined> {
  const options = {
    ...call,
    epoch: place.epoch,
    name: 'round: from the owners',
    onPeerLost: 'abort',
  } as const
  const sent = await together(group, place, call, group.allgather(chunk, options))
  return sent && { vector: sent.data.slice(0, count), report: sent.report }
}

export function rankIn(group: Group, { members }: Place): number {
  return members.findIndex(({ peerId }) => peerId === group.peerId)
}

/**
 * A loss may end such an exchange on some members and not on others, since each gets something else out of it. So all say afterwards how it went for
 * them, and it counts only when it went well for all.
 */
async function together<T>(
  group: Group,
  place: Place,
  call: CallOptions,
  exchange: Promise<T>,
): Promise<T | undefined> {
  const result = await unlessLost(exchange)
  const failed = new Int32Array([result === undefined ? 1 : 0])
  const { data, report } = await group.allreduce(failed, {
    ...call,
    epoch: place.epoch,
    name: 'round: is it whole',
    op: 'max',
  })
  return data[0] === 0 && report.contributors.length === place.members.length ? result : undefined
}
