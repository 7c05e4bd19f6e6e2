/**
 * The time of one collective on a network: every message once, in the order of the schedule, through the resources that it needs
 * (docs/cost-model.md, "The price of a schedule").
 *
 * A message of b bytes that begins at t is in at the latest of
 *   t + curve(b)                      its link alone; what follows on a link that is still sending continues the same stream
 *   uplink(from) + latency            when its sender's uplink has carried it, behind what it had to carry before
 *   shared + latency                  when what all ranks share has (one processor, one radio channel)
 *   downlink(to)                      when its receiver's downlink has
 *   last operand + latency + segment  it is sent while its operands come in, and ends after them.
 * It is combined at gamma per byte; each further message of a rank costs its processor the overhead of one.
 */
import { curveTime, latencyOf, tailBeta } from './curve.ts'
import type { Network } from './network.ts'
import type { Pieces, Traffic } from './traffic.ts'

/** A message goes in segments of this size, and a segment leaves as soon as its operands are in. */
export const segmentBytes = 65536

/** Seconds until the last rank has its result, for a vector of so many bytes. `gammaFactor` 0 leaves the combining out. */
export type Pricer = (bytes: number, gammaFactor?: number) => number

/** Everything that does not depend on the vector is prepared here, so that a price costs one pass over the messages. */
export function createPricer(traffic: Traffic, network: Network): Pricer {
  const { ranks, from, to, link, share, combine, applyOrder } = traffic
  const count = from.length
  // Ranks that a rank of the graph stands for load what is shared as well.
  const crowd = traffic.size / ranks
  const sharedBeta = network.sharedBeta * crowd
  const sharedOverhead = network.sharedOverhead * crowd
  const hosts = Array.from({ length: ranks }, (_, rank) => network.host(rank))
  const curves = Array.from(traffic.links, ([source, target]) => network.link(source, target))
  const latencies = curves.map(latencyOf)
  const tails = curves.map(tailBeta)
  const sendAfter = awaited(traffic.carries, count)
  const applyAfter = awaited(traffic.joins, count)

  // When the first segment and the whole of each message are in (and combined).
  const first = new Float64Array(count)
  const last = new Float64Array(count)
  // When it can begin, and when all that it carries is there.
  const begins = new Float64Array(count)
  const operands = new Float64Array(count)
  // When each rank's processor is free to send, and its uplink and downlink.
  const sender = new Float64Array(ranks)
  const uplink = new Float64Array(ranks)
  const downlink = new Float64Array(ranks)
  // What each link is sending: since when, how many bytes, until when.
  const streamBegin = new Float64Array(curves.length)
  const streamBytes = new Float64Array(curves.length)
  const streamUntil = new Float64Array(curves.length)
  // Messages that share a line: their sizes, and how much the line has carried when each is through.
  const widest = widestGroup(traffic)
  const sizes = new Float64Array(widest)
  const carried = new Float64Array(widest)
  const arrived = new Int32Array(widest)

  /** When message `on` is in up to `shareThere` of the vector, counted from its begin. */
  const reached = (on: number, shareThere: number) => {
    const whole = share[on]!
    if (shareThere >= whole) return last[on]!
    return first[on]! + ((last[on]! - first[on]!) * shareThere) / whole
  }

  return (bytes, gammaFactor = 1) => {
    for (const state of [sender, uplink, downlink, streamUntil]) state.fill(0)
    let shared = 0
    for (let step = 0; step < traffic.steps; step++) {
      const sendsFrom = traffic.sendStart[step]!
      const sendsTo = traffic.sendStart[step + 1]!
      let earliest = Number.POSITIVE_INFINITY
      let load = 0
      for (let node = sendsFrom; node < sendsTo; node++) {
        const size = share[node]! * bytes
        const leadShare = size > segmentBytes ? segmentBytes / bytes : share[node]!
        let begin = sender[from[node]!]!
        let all = 0
        for (let i = sendAfter.start[node]!; i < sendAfter.start[node + 1]!; i++) {
          const on = sendAfter.on[i]!
          all = Math.max(all, reached(on, sendAfter.lastAt[i]!))
          if (sendAfter.firstAt[i]! >= 0)
            begin = Math.max(begin, reached(on, sendAfter.firstAt[i]! + leadShare))
        }
        // A single segment waits for all its operands.
        if (size <= segmentBytes) begin = Math.max(begin, all)
        begins[node] = begin
        operands[node] = all
        sender[from[node]!] = begin + hosts[from[node]!]!.overhead
        earliest = Math.min(earliest, begin)
        load += sharedOverhead + sharedBeta * size
      }
      // What is shared serves all messages of a step side by side: all of them are through when its whole load is.
      if (load > 0) shared = Math.max(shared, earliest) + load

      for (let group = sendsFrom; group < sendsTo; ) {
        const source = from[group]!
        const { hostBeta } = hosts[source]!
        let groupEnd = group
        let busyFrom = Number.POSITIVE_INFINITY
        for (; groupEnd < sendsTo && from[groupEnd] === source; groupEnd++)
          busyFrom = Math.min(busyFrom, begins[groupEnd]!)
        busyFrom = Math.max(busyFrom, uplink[source]!)
        const isLone = groupEnd === group + 1
        if (!isLone) sideBySide(share, group, groupEnd, carried)
        for (let node = group; node < groupEnd; node++) {
          const begin = begins[node]!
          const over = link[node]!
          const curve = curves[over]!
          const latency = latencies[over]!
          const size = share[node]! * bytes
          const lead = Math.min(size, segmentBytes)

          const isGoingOn = begin < streamUntil[over]!
          if (!isGoingOn) {
            streamBegin[over] = begin
            streamBytes[over] = 0
          }
          streamBytes[over]! += size
          const alone = isGoingOn
            ? Math.max(
                latency + tails[over]! * size,
                streamBegin[over]! + curveTime(curve, streamBytes[over]!) - begin,
              )
            : curveTime(curve, size)
          streamUntil[over] = begin + alone - latency

          const up = hostBeta * (isLone ? size : carried[node - group]! * bytes)
          uplink[source] = Math.max(uplink[source]!, busyFrom + up)
          let whole = Math.max(begin + alone, busyFrom + up + latency)
          if (load > 0) whole = Math.max(whole, shared + Math.max(0, latency - network.sharedOverhead))
          first[node] = last[node] = whole
          if (size > lead) {
            // It flows for as long as its tightest resource needs, so that its first segment is in that much earlier.
            const flow = Math.max(alone - latency, up, sharedBeta * size)
            first[node] = Math.max(begin + curveTime(curve, lead), whole - flow * (1 - lead / size))
            last[node] = Math.max(whole, operands[node]! + latency + tails[over]! * lead)
          }
        }
        group = groupEnd
      }

      for (let i = traffic.applyStart[step]!; i < traffic.applyStart[step + 1]!; ) {
        const rank = to[applyOrder[i]!]!
        const { gamma, overhead, hostBeta } = hosts[rank]!
        let end = i
        for (; end < traffic.applyStart[step + 1]! && to[applyOrder[end]!] === rank; end++)
          insertByMoment(arrived, end - i, applyOrder[end]!, last)
        const arrivals = end - i
        // The downlink carries side by side what overlaps ...
        for (let k = 0; k < arrivals; ) {
          const begin = k
          let busyUntil = Math.max(
            downlink[rank]!,
            last[arrived[k]!]! - hostBeta * share[arrived[k]!]! * bytes,
          )
          const busyFrom = busyUntil
          do {
            const node = arrived[k]!
            sizes[k] = share[node]!
            busyUntil += hostBeta * share[node]! * bytes
            k++
          } while (k < arrivals && last[arrived[k]!]! - hostBeta * share[arrived[k]!]! * bytes < busyUntil)
          downlink[rank] = Math.max(busyUntil, last[arrived[k - 1]!]!)
          if (k > begin + 1) sideBySide(sizes, begin, k, carried)
          else carried[0] = sizes[begin]!
          for (let j = begin; j < k; j++) {
            const node = arrived[j]!
            const late = Math.max(0, busyFrom + hostBeta * carried[j - begin]! * bytes - last[node]!)
            first[node]! += late
            last[node]! += late
          }
        }
        // ... and the processor takes them one by one from the first that is in, but combines in the order of the schedule.
        let busy = last[arrived[0]!]! - overhead
        for (; i < end; i++) {
          const node = applyOrder[i]!
          const work = gamma * gammaFactor * combine[node]! * bytes
          busy += work + overhead
          let ready = last[node]!
          for (let k = applyAfter.start[node]!; k < applyAfter.start[node + 1]!; k++) {
            const on = applyAfter.on[k]!
            ready = Math.max(ready, last[on]!)
            first[node] = Math.max(first[node]!, first[on]!)
          }
          last[node] = Math.max(ready + work, busy)
        }
      }
    }
    let latest = 0
    for (let node = 0; node < count; node++) latest = Math.max(latest, last[node]!)
    return latest
  }
}

/** The largest number of messages that one rank gets or sends in a step: no step has more per rank than there are messages in it. */
function widestGroup({ sendStart, steps }: Traffic): number {
  let widest = 0
  for (let step = 0; step < steps; step++) widest = Math.max(widest, sendStart[step + 1]! - sendStart[step]!)
  return widest
}

/** Of each node the nodes that it waits for, and at which of their bytes (shares of the vector, from the begin of the message). */
interface Awaited {
  readonly start: Int32Array
  readonly on: number[]
  /** What the first byte rests on; -1: not on this node. */
  readonly firstAt: number[]
  /** The end of what the rest rests on. */
  readonly lastAt: number[]
}

function awaited(pieces: Pieces, count: number): Awaited {
  const start = new Int32Array(count + 1)
  const on: number[] = []
  const firstAt: number[] = []
  const lastAt: number[] = []
  for (let node = 0; node < count; node++) {
    for (let i = pieces.start[node]!; i < pieces.start[node + 1]!; i++) {
      const end = pieces.onAt[i]! + pieces.share[i]!
      const known = on.indexOf(pieces.on[i]!, start[node]!)
      if (known >= 0) lastAt[known] = Math.max(lastAt[known]!, end)
      else {
        on.push(pieces.on[i]!)
        firstAt.push(pieces.at[i] === 0 ? pieces.onAt[i]! : -1)
        lastAt.push(end)
      }
    }
    start[node + 1] = on.length
  }
  return { start, on, firstAt, lastAt }
}

/** Puts a node into its place among the first `count` of `nodes`, which are in the order of their moments. */
function insertByMoment(nodes: Int32Array, count: number, node: number, moments: Float64Array): void {
  let at = count
  for (; at > 0 && moments[nodes[at - 1]!]! > moments[node]!; at--) nodes[at] = nodes[at - 1]!
  nodes[at] = node
}

/**
 * Messages that share a line fairly: how much the line has carried when each of those at begin .. end - 1 is through, which is the sum
 * of min(own size, other's size) over all of them.
 */
function sideBySide(sizes: Float64Array, begin: number, end: number, carried: Float64Array): void {
  const count = end - begin
  const own = sizes[begin]!
  let isEven = true
  for (let i = begin + 1; i < end; i++) if (sizes[i] !== own) isEven = false
  if (isEven) {
    carried.fill(own * count, 0, count)
    return
  }
  const sorted = sizes.slice(begin, end).sort()
  const below = new Float64Array(count + 1)
  for (let i = 0; i < count; i++) below[i + 1] = below[i]! + sorted[i]!
  for (let i = 0; i < count; i++) {
    const size = sizes[begin + i]!
    const smaller = sorted.indexOf(size)
    carried[i] = below[smaller]! + size * (count - smaller)
  }
}
