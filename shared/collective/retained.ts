/**
 * Results of finished ops, kept for members that may not have finished them: if one of them loses a peer in the op, it gets the
 * result from here instead of running the op again. A result is kept until every member of the op has said that it needs it no more (the
 * number rides on every frame), so in steady state it is the last op's.
 */
import type { Member } from '../membership/types.ts'
import type { NumericArray } from '../wire/dtype.ts'

export interface Retained {
  /** The fold, before it is finished (mean). */
  readonly data: NumericArray
  /** What the ranks noted beside it (notes.ts). */
  readonly notes?: Uint32Array | undefined
  /** Epoch of the attempt that it comes from. */
  readonly epoch: number
}

export interface RetainedResults {
  /** `members`: those who may still need it. */
  keep(op: number, members: readonly Member[], result: Retained): void
  get(op: number): Retained | undefined
  /** Ops and the epoch of the attempt in which each was finished. */
  list(): [op: number, epoch: number][]
  /** The peer needs no op below `settled`. */
  heard(peerId: string, settled: number): void
  /** It has said so of this op. */
  isSettled(peerId: string, op: number): boolean
  /** Whoever has left the room needs nothing. A member whose link is lost may come back for a result. */
  keepFor(members: readonly Member[]): void
}

/** More than any program has in flight; beyond it the oldest goes. */
const maxKept = 128

export function createRetainedResults(selfId: string): RetainedResults {
  const kept = new Map<number, Retained & { owing: Set<string> }>()
  const settledBy = new Map<string, number>()
  const release = (peerId: string, settled: number) => {
    for (const [op, { owing }] of kept)
      if (op < settled && owing.delete(peerId) && owing.size === 0) kept.delete(op)
  }
  return {
    keep(op, members, result) {
      const others = members.map((member) => member.peerId).filter((peerId) => peerId !== selfId)
      const owing = new Set(others.filter((peerId) => (settledBy.get(peerId) ?? 0) <= op))
      if (owing.size > 0) kept.set(op, { ...result, owing })
      if (kept.size > maxKept) kept.delete(Math.min(...kept.keys()))
    },
    get: (op) => kept.get(op),
    list: () => [...kept].map(([op, { epoch }]) => [op, epoch]),
    heard(peerId, settled) {
      if (settled <= (settledBy.get(peerId) ?? 0)) return
      settledBy.set(peerId, settled)
      release(peerId, settled)
    },
    isSettled: (peerId, op) => op < (settledBy.get(peerId) ?? 0),
    keepFor(members) {
      const present = new Set(members.map((member) => member.peerId))
      const known = new Set([...settledBy.keys(), ...[...kept.values()].flatMap(({ owing }) => [...owing])])
      for (const peerId of known) {
        if (present.has(peerId)) continue
        settledBy.delete(peerId)
        release(peerId, Number.POSITIVE_INFINITY)
      }
    },
  }
}
