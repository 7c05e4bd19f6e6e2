/**
 * A schedule as a graph of messages: who sends what share of the vector to whom, and what it waits for. Made once per
 * (algorithm, settings, size) and then priced at any size of vector, on any network, by the predictor and the
 * simulator alike.
 *
 * Nodes are the messages. Steps order them, but nothing waits for a step: a message waits for the nodes that wrote
 * its slots, as the executor does. What a rank combines within itself counts with the message that brings the later
 * operand.
 */
import { assert } from '../base/assert.ts'
import { chunkWidth } from '../schedule/counts.ts'
import type { RankSchedule, Receive, ScheduleShape } from '../schedule/types.ts'
import { addPiece, type Piece, type Pieces, packPieces } from './pieces.ts'

export interface Traffic {
  readonly size: number
  readonly steps: number
  /** Ranks that appear in the graph: `size`, or 1 when the graph shows one rank that stands for all. */
  readonly ranks: number
  readonly from: Int32Array
  readonly to: Int32Array
  /** Directed links that are used, as [from, to]. */
  readonly links: readonly (readonly [number, number])[]
  /** Which of `links` the message goes over. */
  readonly link: Int32Array
  /** Part of the vector that the message carries. */
  readonly share: Float64Array
  /** Part of the vector that is combined when the message has come. */
  readonly combine: Float64Array
  /** What the message carries on: it is sent when that is in. */
  readonly carries: Pieces
  /** What the message is combined with on arrival, in the order that the schedule fixed: it is done when that is. */
  readonly joins: Pieces
  /** Nodes in order of sending; step s sends sendStart[s] .. sendStart[s + 1]. */
  readonly sendStart: Int32Array
  /**
   * Nodes in the order of the schedule's receives, rank by rank; step s applies order[applyStart[s]] ..
   * order[applyStart[s + 1]].
   */
  readonly applyOrder: Int32Array
  readonly applyStart: Int32Array
  /** Part of the vector that the busiest rank sends. */
  readonly sentShare: number
  /** Part of the vector that a rank holds beyond its result, at most: slots that are no output. */
  readonly scratchShare: number
}

/** How ranks and messages of a schedule are found in its graph. */
export interface Addressing {
  rankOf(rank: number): number
  /** The node that a receive waits for, among those of its step. */
  find(
    nodes: Pick<Traffic, 'from' | 'to' | 'share' | 'link' | 'links'>,
    begin: number,
    end: number,
    receive: { receive: Receive; rank: number; index: number; share: number },
  ): number
}

export function compileTraffic(
  shape: ScheduleShape,
  parts: readonly RankSchedule[],
  addressing: Addressing,
): Traffic {
  const steps = shape.steps
  const shares = (chunk: number) => chunkWidth(shape, chunk)
  // Count, so that nodes can be numbered by step.
  const sendStart = new Int32Array(steps + 1)
  const applyStart = new Int32Array(steps + 1)
  for (const part of parts) {
    assert(part.steps.length === steps, `rank ${part.rank} has ${part.steps.length} steps of ${steps}`)
    part.steps.forEach(({ sends, receives }, step) => {
      sendStart[step + 1]! += sends.length
      applyStart[step + 1]! += receives.length
    })
  }
  for (let step = 0; step < steps; step++) {
    sendStart[step + 1]! += sendStart[step]!
    applyStart[step + 1]! += applyStart[step]!
  }
  const count = sendStart[steps]!
  const from = new Int32Array(count)
  const to = new Int32Array(count)
  const link = new Int32Array(count)
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
  const carries: Piece[][] = Array.from({ length: count }, () => [])
  const joins: Piece[][] = Array.from({ length: count }, () => [])
  /** Place of each node in applyOrder. */
  const placed = new Int32Array(count)
  for (const part of parts) {
    const writer = new Int32Array(part.slots.length).fill(-1)
    const writtenAt = new Float64Array(part.slots.length)
    const rest = (list: Piece[], at: number, slot: number) => {
      const on = writer[slot]!
      if (on >= 0) addPiece(list, { at, share: shares(part.slots[slot]!), on, onAt: writtenAt[slot]! })
    }
    part.steps.forEach(({ sends, receives, locals }, step) => {
      for (const { slots } of sends) {
        const list = carries[nextSend[step]!++]!
        let at = 0
        for (const slot of slots) {
          rest(list, at, slot)
          at += shares(part.slots[slot]!)
        }
      }
      receives.forEach((receive, index) => {
        const { slots, how } = receive
        const total = slots.reduce((sum, slot) => sum + shares(part.slots[slot]!), 0)
        const target = { receive, rank: part.rank, index, share: total }
        const end = sendStart[step + 1]!
        const node = addressing.find({ from, to, share, link, links }, sendStart[step]!, end, target)
        assert(
          node < end,
          `rank ${part.rank} waits in step ${step} for rank ${receive.from}, which does not send`,
        )
        placed[node] = nextApply[step]!
        applyOrder[nextApply[step]!++] = node
        if (how !== 'store') combine[node]! += total
        let at = 0
        for (const slot of slots) {
          if (how !== 'store') rest(joins[node]!, at, slot)
          writer[slot] = node
          writtenAt[slot] = at
          at += shares(part.slots[slot]!)
        }
      })
      for (const { from: source, slot, how } of locals) {
        const brought = writer[source]!
        const there = writer[slot]!
        if (how === 'store' || there < 0 || (brought >= 0 && placed[brought]! >= placed[there]!)) {
          if (how !== 'store' && brought >= 0) {
            combine[brought]! += shares(part.slots[slot]!)
            if (there !== brought) rest(joins[brought]!, writtenAt[source]!, slot)
          }
          writer[slot] = brought
          writtenAt[slot] = writtenAt[source]!
        } else {
          combine[there]! += shares(part.slots[slot]!)
          rest(joins[there]!, writtenAt[slot]!, source)
        }
      }
    })
  }

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
    carries: packPieces(carries),
    joins: packPieces(joins),
    sendStart,
    applyOrder,
    applyStart,
    sentShare,
    scratchShare,
  }
}
