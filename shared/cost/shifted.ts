/**
 * The graph of all ranks from that of one, where every rank does what rank 0 does, shifted by its rank: P = 10 000
 * without 10 000 parts.
 */
import type { Local, RankSchedule } from '../schedule/types.ts'
import type { Pieces } from './pieces.ts'
import type { Traffic } from './traffic.ts'

/**
 * Whether `part` is `first`, the part of rank 0, with every peer shifted by its rank.
 * @param roughly what a rank combines within itself may differ: then only the order in which it waits does
 */
export function isShifted(part: RankSchedule, first: RankSchedule, size: number, roughly: boolean): boolean {
  const isSame = (a: readonly number[], b: readonly number[]) =>
    a.length === b.length && a.every((value, i) => value === b[i])
  const isSameLocals = (a: readonly Local[], b: readonly Local[]) =>
    a.length === b.length &&
    a.every(({ from, slot, how }, i) => from === b[i]!.from && slot === b[i]!.slot && how === b[i]!.how)
  const shifted = (peer: number) => (peer + part.rank) % size
  return part.steps.every(({ sends, receives, locals }, step) => {
    const other = first.steps[step]!
    return (
      (roughly || isSameLocals(locals, other.locals)) &&
      sends.length === other.sends.length &&
      receives.length === other.receives.length &&
      sends.every(({ to, slots }, i) => {
        const own = other.sends[i]!
        return to === shifted(own.to) && isSame(slots, own.slots)
      }) &&
      receives.every(({ from, slots, how }, i) => {
        const own = other.receives[i]!
        return from === shifted(own.from) && (roughly || how === own.how) && isSame(slots, own.slots)
      })
    )
  })
}

/** @param one the graph of rank 0 that hears itself */
export function expandShifted(one: Traffic): Traffic {
  const { size, steps, sendStart, applyStart } = one
  const kinds = one.from.length
  const count = kinds * size
  const stepOf = new Int32Array(kinds)
  for (let step = 0; step < steps; step++) stepOf.fill(step, sendStart[step]!, sendStart[step + 1]!)
  const distance = Int32Array.from(one.link, (link) => one.links[link]![1])
  /** Message `kind` of one step, sent by `rank`: nodes of a step ascend in their sender. */
  const nodeOf = (kind: number, rank: number) => {
    const begin = sendStart[stepOf[kind]!]!
    const width = sendStart[stepOf[kind]! + 1]! - begin
    return begin * size + rank * width + kind - begin
  }
  const wrap = (rank: number) => (rank + size) % size

  const from = new Int32Array(count)
  const to = new Int32Array(count)
  const link = new Int32Array(count)
  const share = new Float64Array(count)
  const combine = new Float64Array(count)
  const kindOf = new Int32Array(count)
  for (let kind = 0; kind < kinds; kind++)
    for (let rank = 0; rank < size; rank++) {
      const node = nodeOf(kind, rank)
      from[node] = rank
      to[node] = wrap(rank + distance[kind]!)
      link[node] = one.link[kind]! * size + rank
      share[node] = one.share[kind]!
      combine[node] = one.combine[kind]!
      kindOf[node] = kind
    }

  /** The holder of a message waits for what came to it: from a rank `distance` below. */
  const spread = (pieces: Pieces, holderOf: (kind: number, rank: number) => number): Pieces => {
    const start = new Int32Array(count + 1)
    for (let node = 0; node < count; node++) {
      const kind = kindOf[node]!
      start[node + 1] = start[node]! + pieces.start[kind + 1]! - pieces.start[kind]!
    }
    const total = start[count]!
    const [at, shares, onAt] = [new Float64Array(total), new Float64Array(total), new Float64Array(total)]
    const on = new Int32Array(total)
    for (let node = 0; node < count; node++) {
      const kind = kindOf[node]!
      const holder = holderOf(kind, from[node]!)
      for (let i = 0; i < start[node + 1]! - start[node]!; i++) {
        const [piece, target] = [pieces.start[kind]! + i, start[node]! + i]
        const awaited = pieces.on[piece]!
        at[target] = pieces.at[piece]!
        shares[target] = pieces.share[piece]!
        onAt[target] = pieces.onAt[piece]!
        on[target] = nodeOf(awaited, wrap(holder - distance[awaited]!))
      }
    }
    return { start, at, share: shares, on, onAt }
  }

  const applyOrder = new Int32Array(one.applyOrder.length * size)
  for (let step = 0; step < steps; step++) {
    const [begin, end] = [applyStart[step]!, applyStart[step + 1]!]
    for (let rank = 0; rank < size; rank++)
      for (let i = begin; i < end; i++) {
        const kind = one.applyOrder[i]!
        applyOrder[begin * size + rank * (end - begin) + i - begin] = nodeOf(
          kind,
          wrap(rank - distance[kind]!),
        )
      }
  }

  return {
    ...one,
    ranks: size,
    from,
    to,
    links: one.links.flatMap(([, target]) =>
      Array.from({ length: size }, (_, rank): [number, number] => [rank, wrap(rank + target)]),
    ),
    link,
    share,
    combine,
    carries: spread(one.carries, (_, rank) => rank),
    joins: spread(one.joins, (kind, rank) => wrap(rank + distance[kind]!)),
    sendStart: sendStart.map((value) => value * size),
    applyOrder,
    applyStart: applyStart.map((value) => value * size),
  }
}
