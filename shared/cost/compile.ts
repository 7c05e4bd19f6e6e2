/** The graphs of a schedule: of every rank, and where all ranks do the same of one that stands for all. */
import { chunkWidth } from '../schedule/counts.ts'
import type { Algorithm, RankSchedule, Schedule, ScheduleShape, Settings } from '../schedule/types.ts'
import { expandShifted, isShifted } from './shifted.ts'
import { compileTraffic, type Traffic } from './traffic.ts'

export interface Compiled {
  /** A single rank that stands for all, when all do the same. */
  readonly one: Traffic | undefined
  /** What each rank does, without saying with whom, when all do the same: equal for schedules that differ in that only. */
  readonly kind: string | undefined
  /** Who sends to whom, as a number: schedules of one kind and equal peers are one. */
  peers(): number
  /** Every rank. Made when first asked for. */
  all(): Traffic
}

type PartOf = (rank: number) => RankSchedule

/** Above this size the graph of every rank is not made to price a schedule of which one rank stands for all. */
export const largestWhole = 128

export function compileAlgorithm(algorithm: Algorithm, size: number, settings: Settings): Compiled {
  const part: PartOf = (rank) => algorithm.part(size, settings, rank)
  return compile(algorithm.shape(size, settings), part, algorithm.alike)
}

/** Of a schedule that is in no registry: its parts say whether all ranks do the same. */
export function compileSchedule(schedule: Schedule): Compiled {
  const signatures = schedule.ranks.map((part) => signatureOf(schedule, part))
  const isAlike = signatures.every((signature) => signature === signatures[0])
  return compile(schedule, (rank) => schedule.ranks[rank]!, isAlike)
}

function compile(shape: ScheduleShape, part: PartOf, isAlike: boolean): Compiled {
  const { size } = shape
  const first = once(() => part(0))
  const others = once(() => [1, size >> 1, size - 1].filter((rank) => rank > 0 && rank < size).map(part))
  const isLarge = size > largestWhole
  const all = once(() => {
    const isCyclic = isAlike && others().every((other) => isShifted(other, first(), size, isLarge))
    return isCyclic ? expandShifted(compileOne(shape, first())) : compileAll(shape, part)
  })
  const peers = once(() => hashOfPeers([first(), ...others()]))
  if (!isAlike) return { one: undefined, kind: undefined, peers, all }
  const kind = `${size} ${signatureOf(shape, first())}`
  const one = ones.get(kind) ?? compileOne(shape, first())
  ones.set(kind, one)
  return { one, kind, peers, all }
}

/** FNV-1a over the ranks that each part sends to, step by step. */
function hashOfPeers(parts: readonly RankSchedule[]): number {
  let hash = 0x811c9dc5
  const add = (value: number) => {
    hash = Math.imul(hash ^ value, 0x01000193)
  }
  for (const { steps } of parts)
    for (const { sends } of steps) {
      add(-1)
      for (const { to } of sends) add(to)
    }
  return hash
}

/**
 * Schedules that cost the same share one graph: the groups of one size, the members of the family under other names.
 */
const ones = new Map<string, Traffic>()

/** The value of `make`, which is made when first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/**
 * What a rank does, without saying with whom: the sizes of its messages, since when their links have been idle, which
 * step wrote what they begin with (and where in its message) and what they carry, and how much is combined. Ranks of
 * one signature cost the same on links that are alike.
 */
function signatureOf(shape: ScheduleShape, part: RankSchedule): string {
  const shares = (chunk: number) => chunkWidth(shape, chunk)
  const lastUse = new Map<number, number>()
  /** Step that wrote each slot last. */
  const written = new Int32Array(part.slots.length).fill(-1)
  const writtenAt = new Float64Array(part.slots.length)
  const shareOf = (slots: readonly number[]) => {
    let sum = 0
    for (const slot of slots) sum += shares(part.slots[slot]!)
    return sum
  }
  const rounded = (share: number) => Math.round(share * 1e9)
  const steps = part.steps.map(({ sends, receives, locals }, step) => {
    const sent = sends.map(({ to, slots }) => {
      let latest = -1
      for (const slot of slots) latest = Math.max(latest, written[slot]!)
      const since = lastUse.get(to) ?? -1
      lastUse.set(to, step)
      const [first] = slots
      const begin = first === undefined ? '' : `${written[first]}@${rounded(writtenAt[first]!)}`
      return `${rounded(shareOf(slots))},${since},${begin},${latest}`
    })
    let combined = 0
    const received = receives.map(({ slots, how }) => {
      const share = shareOf(slots)
      if (how !== 'store') combined += share
      let at = 0
      for (const slot of slots) {
        written[slot] = step
        writtenAt[slot] = at
        at += shares(part.slots[slot]!)
      }
      return rounded(share)
    })
    for (const { slot, from, how } of locals) {
      if (how !== 'store') combined += shares(part.slots[slot]!)
      if (how !== 'store' && written[from]! < written[slot]!) continue
      written[slot] = written[from]!
      writtenAt[slot] = writtenAt[from]!
    }
    return `${sent.sort().join(' ')} < ${received.sort((a, b) => a - b).join(' ')} + ${rounded(combined)}`
  })
  return steps.join('; ')
}

function compileAll(shape: ScheduleShape, part: PartOf): Traffic {
  const parts = Array.from({ length: shape.size }, (_, rank) => part(rank))
  return compileTraffic(shape, parts, {
    rankOf: (rank) => rank,
    /** Messages of a step ascend in `from`, so that the one from `from` to `to` is found by halving. */
    find: ({ from, to }, begin, end, receive) => {
      const rank = receive.rank
      let [low, high] = [begin, end]
      while (low < high) {
        const middle = (low + high) >> 1
        if (from[middle]! < receive.receive.from) low = middle + 1
        else high = middle
      }
      while (low < end && to[low] !== rank) low++
      return low
    },
  })
}

/**
 * The graph of one rank that hears itself: what it sends in a step is what it gets in that step. A message from a
 * rank d below is its own to the rank d above (cyclic group), or to the same rank (XOR); else the next of the same
 * size.
 */
function compileOne(shape: ScheduleShape, part: RankSchedule): Traffic {
  return compileTraffic(shape, [part], {
    rankOf: () => 0,
    find: ({ share, link, links }, begin, end, { receive, rank, index, share: wanted }) => {
      const mirrored = (2 * rank - receive.from + shape.size) % shape.size
      for (const peer of [mirrored, receive.from])
        for (let node = begin; node < end; node++)
          if (links[link[node]!]![1] === peer && share[node] === wanted) return node
      return Math.min(begin + index, end - 1)
    },
  })
}
