/**
 * The time of one collective on a network: every message once, in the order of the schedule, through the resources
 * that it needs (docs/cost-model.md, "The price of a schedule").
 *
 * A message of b bytes that begins at t is in at the latest of
 *   t + curve(b)                      its link alone; on a link that is still sending it continues the same stream
 *   uplink(from) + latency            when its sender's uplink has carried it, beside all else that goes over it
 *   shared + latency                  when what all ranks share has (one processor, one radio channel)
 *   downlink(to)                      when its receiver's downlink has
 *   last operand + latency + segment  it is sent while its operands come in, and ends after them.
 * It is combined at gamma per byte; each further message of a rank costs its processor the overhead of one.
 */
import { curveTime, latencyOf, tailBeta } from './curve.ts'
import { createFlows, throughLine } from './line.ts'
import { byMoment, insertByMoment } from './moments.ts'
import type { Network } from './network.ts'
import { awaited } from './pieces.ts'
import { createStreams } from './streams.ts'
import type { Traffic } from './traffic.ts'

/** A message goes in segments of this size, and a segment leaves as soon as its operands are in. */
export const segmentBytes = 65536

/**
 * Seconds until the last rank has its result, for a vector of so many bytes. `gammaFactor` 0 leaves the combining
 * out.
 */
export type Pricer = (bytes: number, gammaFactor?: number) => number

/**
 * Everything that does not depend on the vector is prepared here, so that a price costs one pass over the messages.
 */
export function createPricer(traffic: Traffic, network: Network): Pricer {
  const { ranks, from, to, link, share, combine, carries, sendStart, applyStart, applyOrder } = traffic
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

  // Of each message: when it begins; when what it carries lets it end; when it is through what is shared; when it
  // begins to come in; when its first segment is in, and the whole of it (and combined).
  const begin = new Float64Array(count)
  const carried = new Float64Array(count)
  const through = new Float64Array(count)
  const lands = new Float64Array(count)
  const first = new Float64Array(count)
  const last = new Float64Array(count)
  // When each rank's processor is free to send, its uplink and downlink, and what is shared.
  const sender = new Float64Array(ranks)
  const uplink = new Float64Array(ranks)
  const downlink = new Float64Array(ranks)
  let shared = 0
  const streams = createStreams(curves)
  const widest = widestStep(traffic)
  const flows = createFlows(widest)
  const arrived = new Int32Array(widest)
  let bytes = 0
  let gammaFactor = 1

  /** When message `on` is in up to `shareThere` of the vector, counted from its begin. */
  const reached = (on: number, shareThere: number) => {
    const whole = share[on]!
    if (shareThere >= whole) return last[on]!
    return first[on]! + ((last[on]! - first[on]!) * shareThere) / whole
  }

  const beginMessage = (node: number) => {
    const source = from[node]!
    const size = share[node]! * bytes
    const rate = Math.max(tails[link[node]!]!, hosts[source]!.hostBeta)
    let earliest = sender[source]!
    let end = 0
    for (let i = carries.start[node]!; i < carries.start[node + 1]!; i++) {
      const on = carries.on[i]!
      const at = carries.at[i]!
      const onAt = carries.onAt[i]!
      if (size <= segmentBytes) {
        // A single segment waits for all that it carries.
        earliest = Math.max(earliest, reached(on, onAt + carries.share[i]!))
        continue
      }
      const ready = reached(on, onAt + Math.min(carries.share[i]!, segmentBytes / bytes))
      if (at === 0) earliest = Math.max(earliest, ready)
      // What lies behind this piece leaves after it.
      end = Math.max(end, ready + rate * (size - at * bytes))
    }
    begin[node] = earliest
    carried[node] = end
    sender[source] = earliest + hosts[source]!.overhead
  }

  /**
   * What is shared serves in order of arrival. Where one rank stands for all, the others load it too, but they have
   * come one after the other once and stay so: the load of all steps so far is through before the last rank's message
   * is.
   */
  const passShared = (sendsFrom: number, sendsTo: number) => {
    const order = crowd > 1 ? undefined : byMoment(sendsFrom, sendsTo, begin)
    for (let i = sendsFrom; i < sendsTo; i++) {
      const node = order ? order[i - sendsFrom]! : i
      const own = sharedOverhead + sharedBeta * share[node]! * bytes
      if (order) shared = Math.max(shared, begin[node]!) + own
      else shared += own * crowd
      through[node] = Math.max(shared, begin[node]! + own)
    }
  }

  /** The messages of one rank leave side by side. */
  const leave = (groupFrom: number, groupTo: number) => {
    const source = from[groupFrom]!
    const { hostBeta } = hosts[source]!
    let freeFrom = Number.POSITIVE_INFINITY
    for (let node = groupFrom; node < groupTo; node++) {
      const over = link[node]!
      const size = share[node]! * bytes
      flows.begin[node - groupFrom] = begin[node]!
      flows.end[node - groupFrom] = streams.send(over, begin[node]!, size) - latencies[over]!
      flows.load[node - groupFrom] = hostBeta * size
      freeFrom = Math.min(freeFrom, begin[node]!)
    }
    flows.count = groupTo - groupFrom
    freeFrom = Math.max(freeFrom, uplink[source]!)
    uplink[source] = freeFrom
    for (let node = groupFrom; node < groupTo; node++) {
      const over = link[node]!
      const latency = latencies[over]!
      const size = share[node]! * bytes
      uplink[source]! += hostBeta * size
      const left = throughLine(flows, node - groupFrom, freeFrom)
      streams.held(over, left)
      let whole = left + latency
      if (isShared) whole = Math.max(whole, through[node]! + Math.max(0, latency - sharedOverhead))
      first[node] = last[node] = whole
      if (size > segmentBytes) {
        // Its segments take turns with those of others, so that it flows at an even pace from its begin to its end.
        const flow = Math.max(left - begin[node]!, sharedBeta * size)
        const lone = begin[node]! + curveTime(curves[over]!, segmentBytes)
        first[node] = Math.max(lone, whole - flow * (1 - segmentBytes / size))
        last[node] = Math.max(whole, carried[node]! + latency)
      }
      // It comes in from when it began to flow, or in one go at the end.
      const down = hosts[to[node]!]!.hostBeta * size
      lands[node] = Math.min(Math.max(begin[node]!, freeFrom) + latency, last[node]! - down)
    }
  }

  /** The downlink of a rank carries side by side what overlaps. */
  const land = (rank: number, arrivals: number) => {
    const { hostBeta } = hosts[rank]!
    for (let k = 0; k < arrivals; ) {
      const group = k
      const freeFrom = Math.max(downlink[rank]!, lands[arrived[k]!]!)
      downlink[rank] = freeFrom
      let leads = 0
      do {
        const node = arrived[k]!
        const load = hostBeta * share[node]! * bytes
        flows.begin[k - group] = lands[node]!
        flows.end[k - group] = last[node]!
        flows.load[k - group] = load
        downlink[rank]! += load
        leads += Math.min(load, hostBeta * segmentBytes)
        k++
      } while (k < arrivals && lands[arrived[k]!]! < downlink[rank]!)
      flows.count = k - group
      for (let j = group; j < k; j++) {
        const node = arrived[j]!
        last[node] = throughLine(flows, j - group, freeFrom)
        first[node] = Math.min(last[node]!, Math.max(first[node]!, lands[node]! + leads))
      }
    }
  }

  /**
   * A rank's processor takes messages one by one from the first that is in, but combines in the order of the
   * schedule.
   */
  const combineAll = (rank: number, ordersFrom: number, ordersTo: number, earliest: number) => {
    const { gamma, overhead } = hosts[rank]!
    let busy = earliest - overhead
    for (let i = ordersFrom; i < ordersTo; i++) {
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

  const receiveStep = (step: number) => {
    const stepTo = applyStart[step + 1]!
    for (let i = applyStart[step]!; i < stepTo; ) {
      const rank = to[applyOrder[i]!]!
      let end = i
      let earliest = Number.POSITIVE_INFINITY
      for (; end < stepTo && to[applyOrder[end]!] === rank; end++) {
        earliest = Math.min(earliest, last[applyOrder[end]!]!)
        insertByMoment(arrived, end - i, applyOrder[end]!, lands)
      }
      land(rank, end - i)
      combineAll(rank, i, end, earliest)
      i = end
    }
  }

  const sendStep = (step: number) => {
    const sendsTo = sendStart[step + 1]!
    for (let node = sendStart[step]!; node < sendsTo; node++) beginMessage(node)
    if (isShared) passShared(sendStart[step]!, sendsTo)
    for (let group = sendStart[step]!; group < sendsTo; ) {
      let end = group + 1
      while (end < sendsTo && from[end] === from[group]) end++
      leave(group, end)
      group = end
    }
  }

  return (vectorBytes, factor = 1) => {
    bytes = vectorBytes
    gammaFactor = factor
    for (const state of [sender, uplink, downlink]) state.fill(0)
    shared = 0
    streams.reset()
    for (let step = 0; step < traffic.steps; step++) {
      sendStep(step)
      receiveStep(step)
    }
    let latest = 0
    for (let node = 0; node < count; node++) latest = Math.max(latest, last[node]!)
    return latest
  }
}

/** The most messages of a step: more than that no rank sends or gets in one. */
function widestStep({ sendStart, steps }: Traffic): number {
  let widest = 0
  for (let step = 0; step < steps; step++) widest = Math.max(widest, sendStart[step + 1]! - sendStart[step]!)
  return widest
}
