/**
 * A schedule as a graph of messages: who sends what share of the vector to whom, and what it waits for. Made once per
 * (algorithm, settings, size) and then priced at any size of vector, on any network, by the predictor and the simulator alike.
 *
 * Nodes are the messages (`from` !== `to`) and the combining locals (`from` === `to`). Steps order them, but nothing
 * waits for a step: a message waits for the nodes that wrote its slots, as the executor does.
 */
import { assert } from '../base/assert.ts'
import type { Algorithm, RankSchedule, Receive, ScheduleShape, Settings } from '../schedule/types.ts'

/** For each node a list of nodes: of node n those at start[n] .. start[n + 1] of `on`. */
export interface Dependencies {
  readonly start: Int32Array
  readonly on: Int32Array
}

/** What a message waits for, and at which byte: shares of the vector, counted from the begin of the awaited message. */
export interface SendDependencies extends Dependencies {
  /** The first segment needs the awaited message from here on; -1: it does not need it. */
  readonly firstAt: Float64Array
  /** The last segment needs the awaited message up to here. */
  readonly lastAt: Float64Array
}

export interface Traffic {
  readonly size: number
  readonly steps: number
  /** Ranks that appear in the graph: `size`, or 1 when the graph shows one rank that stands for all. */
  readonly ranks: number
  readonly from: Int32Array
  readonly to: Int32Array
  /** Directed links that are used, as [from, to]. */
  readonly links: readonly (readonly [number, number])[]
  /** Which of `links` the message goes over; -1 for a local. */
  readonly link: Int32Array
  /** Part of the vector that the message carries (for a local: that it combines). */
  readonly share: Float64Array
  /** Part of the vector that is combined when the message has come. */
  readonly combine: Float64Array
  readonly sendAfter: SendDependencies
  /** Nodes whose values the combining takes in, in the order that the schedule fixed. */
  readonly applyAfter: Dependencies
  /** Nodes in order of sending; step s sends sendStart[s] .. sendStart[s + 1]. */
  readonly sendStart: Int32Array
  /** Nodes in order of applying, rank by rank; step s applies order[applyStart[s]] .. order[applyStart[s + 1]]. */
  readonly applyOrder: Int32Array
  readonly applyStart: Int32Array
  /** Part of the vector that the busiest rank sends. */
  readonly sentShare: number
  /** Part of the vector that a rank holds beyond its result, at most: slots that are no output. */
  readonly scratchShare: number
}

export interface Compiled {
  /** A single rank that stands for all, when all do the same. */
  readonly one: Traffic | undefined
  /** Every rank. Made when first asked for. */
  all(): Traffic
}

/** Above this size a sample of ranks tells whether all do the same. */
export const sampleAbove = 128

export function compileAlgorithm(algorithm: Algorithm, size: number, settings: Settings): Compiled {
  return compileSchedule(algorithm.shape(size, settings), (rank) => algorithm.part(size, settings, rank))
}

export function compileSchedule(shape: ScheduleShape, part: (rank: number) => RankSchedule): Compiled {
  const { size } = shape
  const shares = sharesOf(shape)
  const everyone = Array.from({ length: size }, (_, rank) => rank)
  const asked = size > sampleAbove ? [0, 1, 2, 3, size >> 1, size - 2, size - 1] : everyone
  const first = part(0)
  const signature = signatureOf(first, shares)
  const isRegular = asked.every((rank) => rank === 0 || hasSignature(part(rank), shares, signature))
  const all = once(() => compileAll(shape, part))
  return { one: isRegular ? compileOne(shape, first) : undefined, all }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function sharesOf(shape: ScheduleShape): (chunk: number) => number {
  const { cuts, chunks } = shape
  return cuts ? (chunk) => cuts[chunk + 1]! - cuts[chunk]! : () => 1 / chunks
}

/** What a rank does, without saying with whom: ranks with equal signatures cost the same on links that are alike. */
function signatureOf(part: RankSchedule, shares: (chunk: number) => number): number[] {
  const signature: number[] = []
  const lastUse = new Map<number, number>()
  /** Step that wrote each slot last. */
  const written = new Int32Array(part.slots.length).fill(-1)
  const shareOf = (slots: readonly number[]) => {
    let sum = 0
    for (const slot of slots) sum += shares(part.slots[slot]!)
    return sum
  }
  part.steps.forEach(({ sends, receives, locals }, step) => {
    signature.push(sends.length, receives.length)
    for (const { to, slots } of sends) {
      let latest = -1
      for (const slot of slots) latest = Math.max(latest, written[slot]!)
      signature.push(
        shareOf(slots),
        lastUse.get(to) ?? -1,
        slots.length > 0 ? written[slots[0]!]! : -1,
        latest,
      )
      lastUse.set(to, step)
    }
    const received = receives.map(({ slots, how }) => (how === 'store' ? 1 : -1) * shareOf(slots))
    if (received.length > 1) received.sort((a, b) => a - b)
    signature.push(...received)
    for (const { slots } of receives) for (const slot of slots) written[slot] = step
    let combined = 0
    for (const { slot, from, how } of locals) {
      if (how !== 'store') combined += shares(part.slots[slot]!)
      written[slot] = how === 'store' ? written[from]! : step
    }
    signature.push(combined)
  })
  return signature
}

function hasSignature(
  part: RankSchedule,
  shares: (chunk: number) => number,
  wanted: readonly number[],
): boolean {
  const signature = signatureOf(part, shares)
  return signature.length === wanted.length && signature.every((value, i) => value === wanted[i])
}

function compileAll(shape: ScheduleShape, part: (rank: number) => RankSchedule): Traffic {
  const parts = Array.from({ length: shape.size }, (_, rank) => part(rank))
  return compile(shape, parts, {
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
 * The graph of one rank that hears itself: what it sends in a step is what it gets in that step. A message from a rank d
 * below is its own to the rank d above (cyclic group), or to the same rank (XOR); else the next of the same size.
 */
function compileOne(shape: ScheduleShape, part: RankSchedule): Traffic {
  return compile(shape, [part], {
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

interface Addressing {
  rankOf(rank: number): number
  find(
    nodes: Pick<Traffic, 'from' | 'to' | 'share' | 'link' | 'links'>,
    begin: number,
    end: number,
    receive: { receive: Receive; rank: number; index: number; share: number },
  ): number
}

function compile(shape: ScheduleShape, parts: readonly RankSchedule[], addressing: Addressing): Traffic {
  const steps = shape.steps
  const shares = sharesOf(shape)
  // Count, so that nodes can be numbered by step: first the messages of all steps, then the locals.
  const sendStart = new Int32Array(steps + 1)
  const applyStart = new Int32Array(steps + 1)
  let localCount = 0
  for (const part of parts) {
    assert(part.steps.length === steps, `rank ${part.rank} has ${part.steps.length} steps of ${steps}`)
    part.steps.forEach(({ sends, receives, locals }, step) => {
      const combining = locals.reduce((count, local) => count + (local.how === 'store' ? 0 : 1), 0)
      sendStart[step + 1]! += sends.length
      applyStart[step + 1]! += receives.length + combining
      localCount += combining
    })
  }
  for (let step = 0; step < steps; step++) {
    sendStart[step + 1]! += sendStart[step]!
    applyStart[step + 1]! += applyStart[step]!
  }
  const messageCount = sendStart[steps]!
  const count = messageCount + localCount
  const from = new Int32Array(count)
  const to = new Int32Array(count)
  const link = new Int32Array(count).fill(-1)
  const share = new Float64Array(count)
  const combine = new Float64Array(count)
  const links: [number, number][] = []
  const linkIds = new Map<number, number>()
  const linkOf = (source: number, target: number) => {
    const key = source * shape.size + target
    const known = linkIds.get(key)
    if (known !== undefined) return known
    linkIds.set(key, links.length)
    return links.push([source, target]) - 1
  }
  const applyOrder = new Int32Array(applyStart[steps]!)
  const nextSend = sendStart.slice()
  const nextApply = applyStart.slice()

  let sentShare = 0
  let scratchShare = 0
  for (const part of parts) {
    const output = new Set(part.output)
    const scratch = part.slots.reduce((sum, chunk, slot) => sum + (output.has(slot) ? 0 : shares(chunk)), 0)
    scratchShare = Math.max(scratchShare, scratch)
    let sent = 0
    part.steps.forEach(({ sends }, step) => {
      for (const { to: peer, slots } of sends) {
        const node = nextSend[step]!++
        from[node] = addressing.rankOf(part.rank)
        to[node] = addressing.rankOf(peer)
        link[node] = linkOf(part.rank, peer)
        for (const slot of slots) share[node]! += shares(part.slots[slot]!)
        sent += share[node]!
      }
    })
    sentShare = Math.max(sentShare, sent)
  }

  // Replay each rank: which node wrote each slot last, and where in that message the slot begins.
  nextSend.set(sendStart)
  const sendLists: { on: number; firstAt: number; lastAt: number }[][] = new Array(count)
  const applyLists: number[][] = new Array(count)
  let nextLocal = messageCount
  for (const part of parts) {
    const writer = new Int32Array(part.slots.length).fill(-1)
    const writtenAt = new Float64Array(part.slots.length)
    part.steps.forEach(({ sends, receives, locals }, step) => {
      for (const { slots } of sends) {
        const list: { on: number; firstAt: number; lastAt: number }[] = []
        sendLists[nextSend[step]!++] = list
        slots.forEach((slot, i) => {
          const on = writer[slot]!
          if (on < 0) return
          const begin = writtenAt[slot]!
          const end = begin + shares(part.slots[slot]!)
          const known = list.find((dependency) => dependency.on === on)
          if (known) known.lastAt = Math.max(known.lastAt, end)
          else list.push({ on, firstAt: i === 0 ? begin : -1, lastAt: end })
        })
      }
      receives.forEach((receive, index) => {
        const { slots, how } = receive
        const total = slots.reduce((sum, slot) => sum + shares(part.slots[slot]!), 0)
        const target = { receive, rank: part.rank, index, share: total }
        const node = addressing.find(
          { from, to, share, link, links },
          sendStart[step]!,
          sendStart[step + 1]!,
          target,
        )
        assert(
          node < sendStart[step + 1]!,
          `rank ${part.rank} waits in step ${step} for rank ${receive.from}, which does not send`,
        )
        applyOrder[nextApply[step]!++] = node
        if (how !== 'store') combine[node] = total
        const list: number[] = []
        let at = 0
        for (const slot of slots) {
          const on = writer[slot]!
          if (how !== 'store' && on >= 0 && !list.includes(on)) list.push(on)
          writer[slot] = node
          writtenAt[slot] = at
          at += shares(part.slots[slot]!)
        }
        applyLists[node] = list
      })
      for (const { from: source, slot, how } of locals) {
        if (how === 'store') {
          writer[slot] = writer[source]!
          writtenAt[slot] = writtenAt[source]!
          continue
        }
        const node = nextLocal++
        from[node] = to[node] = addressing.rankOf(part.rank)
        share[node] = combine[node] = shares(part.slots[slot]!)
        applyOrder[nextApply[step]!++] = node
        applyLists[node] = [...new Set([writer[source]!, writer[slot]!])].filter((on) => on >= 0)
        writer[slot] = node
        writtenAt[slot] = 0
      }
    })
  }

  const sendFlat = flatten(sendLists, count)
  const applyFlat = flatten(applyLists, count)
  return {
    size: shape.size,
    steps,
    ranks: parts.length,
    from,
    to,
    links,
    link,
    share,
    combine,
    sendAfter: {
      start: sendFlat.start,
      on: Int32Array.from(sendFlat.values, (dependency) => dependency.on),
      firstAt: Float64Array.from(sendFlat.values, (dependency) => dependency.firstAt),
      lastAt: Float64Array.from(sendFlat.values, (dependency) => dependency.lastAt),
    },
    applyAfter: { start: applyFlat.start, on: Int32Array.from(applyFlat.values) },
    sendStart,
    applyOrder,
    applyStart,
    sentShare,
    scratchShare,
  }
}

function flatten<T>(
  lists: readonly (readonly T[] | undefined)[],
  count: number,
): { start: Int32Array; values: T[] } {
  const start = new Int32Array(count + 1)
  const values: T[] = []
  for (let node = 0; node < count; node++) {
    for (const value of lists[node] ?? []) values.push(value)
    start[node + 1] = values.length
  }
  return { start, values }
}
