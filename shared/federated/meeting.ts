/**
 * Small collectives with which members find out about each other before, between and after the large ones. A meeting is bound to the
 * epoch that it begins in, and so is everything that follows from it: when the members have changed, all of them see an EpochError at the same
 * call and meet again. So what was learned in a meeting is true of exactly those who run the next op.
 */
import { assert } from '../base/assert.ts'
import { EpochError, PeerLostError, type PeerName } from '../base/errors.ts'
import type { Group, Report } from '../collective/types.ts'

export interface CallOptions {
  /** Of each op. Default 10 000 ms. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** An epoch and its members in rank order. */
export interface Place {
  readonly epoch: number
  readonly members: readonly PeerName[]
}

export interface Gathered extends Place {
  /** Whoever was heard, in rank order. */
  readonly present: readonly { readonly peer: PeerName; readonly bytes: Uint8Array }[]
  readonly report: Report
}

/**
 * Every rank gets every rank's bytes; all of them pass the same number of bytes. By a sum and not an allgather, which a loss would end with
 * an error: survivors finish a sum, and learn the same rows.
 */
export async function gatherBytes(
  group: Group,
  bytes: Uint8Array,
  { epoch, members }: Place,
  call: CallOptions & { readonly name: string },
): Promise<Gathered> {
  const rowBytes = 4 * Math.ceil(bytes.length / 4)
  // Each word of the sum has at most one contribution that is not zero.
  const rows = new Int32Array((rowBytes / 4) * members.length)
  const own = members.findIndex(({ peerId }) => peerId === group.peerId)
  new Uint8Array(rows.buffer, rowBytes * Math.max(0, own), bytes.length).set(bytes)
  const { data, report } = await group.allreduce(rows, { ...call, epoch, op: 'sum' })
  const contributors = new Set(report.contributors.map(({ peerId }) => peerId))
  const present = members
    .filter(({ peerId }) => contributors.has(peerId))
    .map((peer) => ({ peer, bytes: new Uint8Array(data.buffer, rowBytes * peer.rank, bytes.length) }))
  return { epoch, members, present, report }
}

export interface Meeting extends Place {
  readonly present: readonly { readonly peer: PeerName; readonly record: Float64Array }[]
  readonly report: Report
}

/** All ranks learn each other's record (the same number of numbers), whoever is a member by then; or exactly those `within`. */
export async function meet(
  group: Group,
  record: Float64Array,
  call: CallOptions & { readonly name: string },
  within?: Place,
): Promise<Meeting> {
  const bytes = new Uint8Array(record.buffer, record.byteOffset, record.byteLength)
  const names = group.members.map(({ peerId, name }, rank) => ({ rank, peerId, name }))
  let place: Place = within ?? { epoch: group.epoch, members: names }
  for (let attempt = 0; attempt < maxAttempts; attempt++)
    try {
      const { present, ...gathered } = await gatherBytes(group, bytes, place, call)
      return {
        ...gathered,
        present: present.map(({ peer, bytes: row }) => ({
          peer,
          record: new Float64Array(row.slice().buffer),
        })),
      }
    } catch (error) {
      if (within || !(error instanceof EpochError)) throw error
      place = error
    }
  assert(false, 'the members change faster than they can meet')
}

/**
 * Does `work` again from its meeting on when the members have changed under it, or when it says so (undefined). All ranks go round
 * together.
 */
export async function untilSettled<T>(work: () => Promise<T | undefined>, within?: Place): Promise<T> {
  for (let attempt = 0; attempt < maxAttempts; attempt++)
    try {
      const result = await work()
      if (result !== undefined) return result
    } catch (error) {
      if (within || !(error instanceof EpochError)) throw error
    }
  assert(false, 'the members change faster than they can finish')
}

/** Undefined where a lost member has ended the call. */
export async function unlessLost<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof PeerLostError) return undefined
    throw error
  }
}

/** Far more often than any room changes in the time of one op. */
const maxAttempts = 1000

/** A manifest of a thousand tensors. */
const maxTextBytes = 256 * 1024

/** The texts of all ranks, of any length. Rare: when there are differences to be named. */
export async function gatherTexts(
  group: Group,
  text: string,
  place: Place,
  { name, ...options }: CallOptions & { readonly name: string },
): Promise<{ peer: PeerName; text: string }[]> {
  const bytes = new TextEncoder().encode(text).subarray(0, maxTextBytes)
  const { data } = await group.allreduce(new Int32Array([bytes.length]), {
    ...options,
    name: `${name}: bytes`,
    epoch: place.epoch,
    op: 'max',
  })
  const padded = new Uint8Array(data[0]!)
  padded.set(bytes)
  const { present } = await gatherBytes(group, padded, place, { ...options, name })
  const decoder = new TextDecoder()
  return present.map(({ peer, bytes: row }) => {
    const end = row.indexOf(0)
    return { peer, text: decoder.decode(end < 0 ? row : row.subarray(0, end)) }
  })
}
