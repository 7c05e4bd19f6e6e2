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
import { createStreams } from './streams.ts'
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
  const { sharedBeta, sharedOverhead } = network
  const isShared = sharedBeta > 0 || sharedOverhead > 0
  const hosts = Array.from({ length: ranks }, (_, rank) => network.host(rank))
  const curves = Array.from(traffic.links, ([source, target]) => network.link(source, target))
  const latencies = curves.map(latencyOf)
  const tails = curves.map(tailBeta)
  const sendAfter = awaited(traffic.carries, count)
  const applyAfter = awaited(traffic.joins, count)

  // When the first segment and the whole of each message are in (and combined).
  const first = new Float64Array(count)
  const last = new Float64Array(count)
  // When it can begin, when all that it carries is there, and when it is through what is shared.
  const begins = new Float64Array(count)
  const operands = new Float64Array(count)
  const through = new Float64Array(count)
  // When each rank's processor is free to send, and its uplink and downlink.
  const sender = new Float64Array(ranks)
  const uplink = new Float64Array(ranks)
  const downlink = new Float64Array(ranks)
  const streams = createStreams(curves)
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
    for (const state of [sender, uplink, downlink]) state.fill(0)
    streams.reset()
    let shared = 0
    for (let step = 0; step < traffic.steps; step++) {
      const sendsFrom = traffic.sendStart[step]!
      const sendsTo = traffic.sendStart[step + 1]!
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
      }
      if (isShared) {
        // What is shared serves in order of arrival. Where one rank stands for all, the others load it too, but they have come
        // one after the other once and stay so: the whole load of all steps so far is through before the last of them is.
        const order = crowd > 1 ? undefined : byMoment(sendsFrom, sendsTo, begins)
        for (let i = sendsFrom; i < sendsTo; i++) {
          const node = order ? order[i - sendsFrom]! : i
          const own = sharedOverhead + sharedBeta * share[node]! * bytes
          if (order) shared = Math.max(shared, begins[node]!) + own
          else shared += own * crowd
          through[node] = Math.max(shared, begins[node]! + own)
        }
      }

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

          const alone = streams.send(over, begin, size) - begin
          const up = hostBeta * (isLone ? size : carried[node - group]! * bytes)
          uplink[source] = Math.max(uplink[source]!, busyFrom + up)
          let whole = Math.max(begin + alone, busyFrom + up + latency)
          if (isShared) whole = Math.max(whole, through[node]! + Math.max(0, latency - sharedOverhead))
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
        let earliest = Number.POSITIVE_INFINITY
        for (; end < traffic.applyStart[step + 1]! && to[applyOrder[end]!] === rank; end++) {
          const node = applyOrder[end]!
          earliest = Math.min(earliest, last[node]!)
          // From when on it needs the downlink, at its full speed at the latest.
          const size = share[node]! * bytes
          begins[node] = Math.min(
            last[node]! - hostBeta * size,
            first[node]! - hostBeta * Math.min(size, segmentBytes),
          )
          insertByMoment(arrived, end - i, node, begins)
        }
        const arrivals = end - i
        // The downlink carries side by side what overlaps ...
        for (let k = 0; k < arrivals; ) {
          const group = k
          const busyFrom = Math.max(downlink[rank]!, begins[arrived[k]!]!)
          downlink[rank] = busyFrom
          do {
            sizes[k] = share[arrived[k]!]!
            downlink[rank]! += hostBeta * sizes[k]! * bytes
            k++
          } while (k < arrivals && begins[arrived[k]!]! < downlink[rank]!)
          sideBySide(sizes, group, k, carried)
          for (let j = group; j < k; j++) {
            const node = arrived[j]!
            const late = Math.max(0, busyFrom + hostBeta * carried[j - group]! * bytes - last[node]!)
            first[node]! += late
            last[node]! += late
          }
        }
        // ... and the processor takes them one by one from the first that is in, but combines in the order of the schedule.
        let busy = earliest - overhead
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

/** Nodes begin .. end - 1 in the order of their moments, equal ones by number. */
function byMoment(begin: number, end: number, moments: Float64Array): Int32Array {
  const nodes = Int32Array.from({ length: end - begin }, (_, i) => begin + i)
  let isSorted = true
  for (let node = begin + 1; node < end; node++) if (moments[node]! < moments[node - 1]!) isSorted = false
  return isSorted ? nodes : nodes.sort((a, b) => moments[a]! - moments[b]! || a - b)
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
