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
import { createFlows, throughLine } from './line.ts'
import type { Network } from './network.ts'
import { createStreams } from './streams.ts'
import type { Pieces, Traffic } from './traffic.ts'

/** A message goes in segments of this size, and a segment leaves as soon as its operands are in. */
export const segmentBytes = 65536

/** Seconds until the last rank has its result, for a vector of so many bytes. `gammaFactor` 0 leaves the combining out. */
export type Pricer = (bytes: number, gammaFactor?: number) => number

/** Everything that does not depend on the vector is prepared here, so that a price costs one pass over the messages. */
export function createPricer(traffic: Traffic, network: Network): Pricer {
  const { ranks, from, to, link, share, combine, carries, applyOrder } = traffic
  const count = from.length
  // Ranks that a rank of the graph stands for load what is shared as well.
  const crowd = traffic.size / ranks
  const { sharedBeta, sharedOverhead } = network
  const isShared = sharedBeta > 0 || sharedOverhead > 0
  const hosts = Array.from({ length: ranks }, (_, rank) => network.host(rank))
  const curves = Array.from(traffic.links, ([source, target]) => network.link(source, target))
  const latencies = curves.map(latencyOf)
  const tails = curves.map(tailBeta)
  const joins = awaited(traffic.joins, count)

  // When the first segment and the whole of each message are in (and combined).
  const first = new Float64Array(count)
  const last = new Float64Array(count)
  // When it can begin, when what it carries lets it end, and when it is through what is shared.
  const begins = new Float64Array(count)
  const operands = new Float64Array(count)
  const through = new Float64Array(count)
  // When each rank's processor is free to send, and its uplink and downlink.
  const sender = new Float64Array(ranks)
  const uplink = new Float64Array(ranks)
  const downlink = new Float64Array(ranks)
  const streams = createStreams(curves)
  const widest = widestGroup(traffic)
  const flows = createFlows(widest)
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
    const segmentShare = bytes > 0 ? segmentBytes / bytes : 1
    let shared = 0
    for (let step = 0; step < traffic.steps; step++) {
      const sendsFrom = traffic.sendStart[step]!
      const sendsTo = traffic.sendStart[step + 1]!
      for (let node = sendsFrom; node < sendsTo; node++) {
        const size = share[node]! * bytes
        const isSegment = size <= segmentBytes
        let begin = sender[from[node]!]!
        let all = 0
        const rate = Math.max(tails[link[node]!]!, hosts[from[node]!]!.hostBeta)
        for (let i = carries.start[node]!; i < carries.start[node + 1]!; i++) {
          const on = carries.on[i]!
          const at = carries.at[i]!
          if (isSegment) all = Math.max(all, reached(on, carries.onAt[i]! + carries.share[i]!))
          else {
            const ready = reached(on, carries.onAt[i]! + Math.min(carries.share[i]!, segmentShare))
            if (at === 0) begin = Math.max(begin, ready)
            // What lies behind this piece leaves after it.
            all = Math.max(all, ready + rate * (size - at * bytes))
          }
        }
        // A single segment waits for all that it carries.
        if (isSegment) begin = Math.max(begin, all)
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
        let freeFrom = Number.POSITIVE_INFINITY
        for (; groupEnd < sendsTo && from[groupEnd] === source; groupEnd++) {
          const node = groupEnd
          const begin = begins[node]!
          const over = link[node]!
          const size = share[node]! * bytes
          flows.begin[node - group] = begin
          flows.end[node - group] = streams.send(over, begin, size) - latencies[over]!
          flows.load[node - group] = hostBeta * size
          freeFrom = Math.min(freeFrom, begin)
        }
        flows.count = groupEnd - group
        freeFrom = Math.max(freeFrom, uplink[source]!)
        uplink[source] = freeFrom
        for (let node = group; node < groupEnd; node++) {
          const begin = begins[node]!
          const over = link[node]!
          const latency = latencies[over]!
          const size = share[node]! * bytes
          uplink[source]! += hostBeta * size
          const left = throughLine(flows, node - group, freeFrom)
          streams.held(over, left)
          let whole = left + latency
          if (isShared) whole = Math.max(whole, through[node]! + Math.max(0, latency - sharedOverhead))
          first[node] = last[node] = whole
          if (size > segmentBytes) {
            // Its segments take turns with those of others, so that it flows at an even pace from its begin to its end.
            const flow = Math.max(left - begin, sharedBeta * size)
            const lead = curveTime(curves[over]!, segmentBytes)
            first[node] = Math.max(begin + lead, whole - flow * (1 - segmentBytes / size))
            last[node] = Math.max(whole, operands[node]! + latency)
          }
          begins[node] = Math.max(begin, freeFrom) + latency
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
          // It comes in from when it began to flow, or in one go at the end.
          begins[node] = Math.min(begins[node]!, last[node]! - hostBeta * share[node]! * bytes)
          insertByMoment(arrived, end - i, node, begins)
        }
        // The downlink carries side by side what overlaps ...
        const arrivals = end - i
        for (let k = 0; k < arrivals; ) {
          const group = k
          const freeFrom = Math.max(downlink[rank]!, begins[arrived[k]!]!)
          downlink[rank] = freeFrom
          let leads = 0
          do {
            const node = arrived[k]!
            const load = hostBeta * share[node]! * bytes
            flows.begin[k - group] = begins[node]!
            flows.end[k - group] = last[node]!
            flows.load[k - group] = load
            downlink[rank]! += load
            leads += Math.min(load, hostBeta * segmentBytes)
            k++
          } while (k < arrivals && begins[arrived[k]!]! < downlink[rank]!)
          flows.count = k - group
          for (let j = group; j < k; j++) {
            const node = arrived[j]!
            const whole = throughLine(flows, j - group, freeFrom)
            first[node] = Math.min(whole, Math.max(first[node]!, begins[node]! + leads))
            last[node] = whole
          }
        }
        // ... and the processor takes them one by one from the first that is in, but combines in the order of the schedule.
        let busy = earliest - overhead
        for (; i < end; i++) {
          const node = applyOrder[i]!
          const work = gamma * gammaFactor * combine[node]! * bytes
          busy += work + overhead
          let ready = last[node]!
          for (let k = joins.start[node]!; k < joins.start[node + 1]!; k++) {
            const on = joins.on[k]!
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

/** Of each node the nodes that its pieces rest on, once each. */
function awaited(pieces: Pieces, count: number): { start: Int32Array; on: number[] } {
  const start = new Int32Array(count + 1)
  const on: number[] = []
  for (let node = 0; node < count; node++) {
    for (let i = pieces.start[node]!; i < pieces.start[node + 1]!; i++)
      if (on.indexOf(pieces.on[i]!, start[node]!) < 0) on.push(pieces.on[i]!)
    start[node + 1] = on.length
  }
  return { start, on }
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
