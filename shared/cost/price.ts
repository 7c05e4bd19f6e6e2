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
import type { Traffic } from './traffic.ts'

/** A message goes in segments of this size, and a segment leaves as soon as its operands are in. */
export const segmentBytes = 65536

/** Seconds until the last rank has its result. `gammaFactor` 0 leaves the combining out. */
export function price(traffic: Traffic, bytes: number, network: Network, gammaFactor = 1): number {
  const { ranks, from, to, link, share, combine, sendAfter, applyAfter, applyOrder } = traffic
  const count = from.length
  // Ranks that a rank of the graph stands for load what is shared as well.
  const crowd = traffic.size / ranks
  const sharedBeta = network.sharedBeta * crowd
  const sharedOverhead = network.sharedOverhead * crowd
  const hosts = Array.from({ length: ranks }, (_, rank) => network.host(rank))
  const curves = Array.from(traffic.links, ([source, target]) => network.link(source, target))
  const tails = curves.map(tailBeta)

  // When the first segment and the whole of each message are in (and combined).
  const first = new Float64Array(count)
  const last = new Float64Array(count)
  // When it can begin, and when all that it carries is there.
  const begins = new Float64Array(count)
  const operands = new Float64Array(count)
  // When each rank's processor is free to send, and its uplink, downlink and what is shared.
  const sender = new Float64Array(ranks)
  const uplink = new Float64Array(ranks)
  const downlink = new Float64Array(ranks)
  let shared = 0
  // What each link is sending: since when, how many bytes, until when.
  const streamBegin = new Float64Array(curves.length)
  const streamBytes = new Float64Array(curves.length)
  const streamUntil = new Float64Array(curves.length)

  const arrived: number[] = []
  const carried: number[] = []
  /** When message `on` is in up to `shareThere` of the vector, counted from its begin. */
  const reached = (on: number, shareThere: number) => {
    const whole = share[on]!
    if (shareThere >= whole) return last[on]!
    return first[on]! + ((last[on]! - first[on]!) * shareThere) / whole
  }

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
      sideBySide(share.subarray(group, groupEnd), carried)
      for (let node = group; node < groupEnd; node++) {
        const begin = begins[node]!
        const over = link[node]!
        const curve = curves[over]!
        const latency = latencyOf(curve)
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

        const up = hostBeta * carried[node - group]! * bytes
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
      arrived.length = 0
      let end = i
      for (; end < traffic.applyStart[step + 1]! && to[applyOrder[end]!] === rank; end++)
        if (link[applyOrder[end]!]! >= 0) arrived.push(applyOrder[end]!)
      if (arrived.length > 1) arrived.sort((one, other) => last[one]! - last[other]! || one - other)
      // The downlink carries side by side what overlaps ...
      for (let k = 0; k < arrived.length; ) {
        const startOf = (node: number) => last[node]! - hostBeta * share[node]! * bytes
        const busyFrom = Math.max(downlink[rank]!, startOf(arrived[k]!))
        let busyUntil = busyFrom
        const together: number[] = []
        for (; k < arrived.length && (together.length === 0 || startOf(arrived[k]!) < busyUntil); k++) {
          busyUntil += hostBeta * share[arrived[k]!]! * bytes
          together.push(arrived[k]!)
        }
        downlink[rank] = Math.max(busyUntil, last[together[together.length - 1]!]!)
        sideBySide(
          together.map((node) => share[node]!),
          carried,
        )
        together.forEach((node, j) => {
          const late = Math.max(0, busyFrom + hostBeta * carried[j]! * bytes - last[node]!)
          first[node]! += late
          last[node]! += late
        })
      }
      // ... and the processor takes them one by one from the first that is in, but combines in the order of the schedule.
      let busy = arrived.length > 0 ? last[arrived[0]!]! - overhead : 0
      for (; i < end; i++) {
        const node = applyOrder[i]!
        const work = gamma * gammaFactor * combine[node]! * bytes
        busy += work + (link[node]! >= 0 ? overhead : 0)
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
  return last.reduce((latest, moment) => Math.max(latest, moment), 0)
}

/**
 * Messages that share a line fairly: how much the line has carried when each of them is through, which is the sum of
 * min(own size, other's size) over all of them.
 */
function sideBySide(sizes: ArrayLike<number>, carried: number[]): void {
  const count = sizes.length
  carried.length = 0
  let isEven = true
  for (let i = 1; i < count; i++) if (sizes[i] !== sizes[0]) isEven = false
  if (isEven) {
    for (let i = 0; i < count; i++) carried.push(sizes[i]! * count)
    return
  }
  const sorted = Float64Array.from(sizes).sort()
  const below = new Float64Array(count + 1)
  for (let i = 0; i < count; i++) below[i + 1] = below[i]! + sorted[i]!
  for (let i = 0; i < count; i++) {
    const smaller = sorted.indexOf(sizes[i]!)
    carried.push(below[smaller]! + sizes[i]! * (count - smaller))
  }
}
