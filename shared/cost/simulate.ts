/**
 * Executes a schedule segment by segment in virtual time: what the predictor sums up, seen as events. Processors,
 * uplinks, downlinks and what all ranks share are queues that serve in order of arrival; a link is a curve with a
 * window that grows. As in the executor nothing waits for a step: on each link the segment of the earliest step goes
 * first whose bytes are there, and messages on different links take turns.
 */
import { assert } from '../base/assert.ts'
import { latencyOf } from './curve.ts'
import { createEventQueue, type SimulatedEvent } from './eventQueue.ts'
import type { Network } from './network.ts'
import { invert, type Pieces } from './pieces.ts'
import { segmentBytes as defaultSegment } from './price.ts'
import { createStreams } from './streams.ts'
import type { Traffic } from './traffic.ts'

export interface SimulationOptions {
  /** Default 64 KiB. */
  readonly segmentBytes?: number
  /** Seconds by which a rank begins late: a straggler. Default 0. */
  readonly delayOf?: (rank: number) => number
}

export interface Simulation {
  /** When the last rank had its result. */
  readonly seconds: number
  /** When each rank had received, combined and sent all. */
  readonly finish: Float64Array
  /**
   * Of each message (node of the traffic): when its first segment began to be sent and when its last one was
   * combined.
   */
  readonly begin: Float64Array
  readonly end: Float64Array
  readonly events: number
}

const [enters, leaves, arrives, isCombined, wakes] = [0, 1, 2, 3, 4]

/** @param traffic the graph of every rank */
export function simulate(
  traffic: Traffic,
  bytes: number,
  network: Network,
  options: SimulationOptions = {},
): Simulation {
  const { segmentBytes = defaultSegment, delayOf = () => 0 } = options
  const { from, to, link, links, share, combine, carries, joins, ranks } = traffic
  assert(ranks === traffic.size, 'a simulation needs the graph of every rank')
  const count = from.length
  const hosts = Array.from({ length: ranks }, (_, rank) => network.host(rank))
  const curves = links.map(([source, target]) => network.link(source, target))
  const latencies = curves.map(latencyOf)
  const streams = createStreams(curves)
  const segmentShare = bytes > 0 ? segmentBytes / bytes : 1
  const segments = Int32Array.from(share, (part) => Math.max(1, Math.ceil(part / segmentShare - 1e-9)))

  // Segments of each message that have left, are in, and are combined.
  const left = new Int32Array(count)
  const arrived = new Int32Array(count)
  const applied = new Int32Array(count)
  const begin = new Float64Array(count)
  const end = new Float64Array(count)
  const carriers = invert(carries, count)
  const joiners = invert(joins, count)
  // The messages of each link in the order of their steps; the first that is not through; whether a segment is on its
  // way out.
  const lanes = lanesOf(link, links.length)
  const head = new Int32Array(links.length)
  const isBusy = new Uint8Array(links.length)
  // When each queue is free.
  const processor = Float64Array.from({ length: ranks }, (_, rank) => delayOf(rank))
  const uplink = new Float64Array(ranks)
  const downlink = new Float64Array(ranks)
  const finish = processor.slice()
  let shared = 0
  const queue = createEventQueue()

  const sizeOf = (node: number, segment: number) =>
    Math.min(segmentBytes, Math.max(0, share[node]! * bytes - segment * segmentBytes))

  /** Whether all is combined that a segment of `node` rests on. */
  const isThere = (pieces: Pieces, node: number, segment: number) => {
    const until = Math.min(share[node]!, (segment + 1) * segmentShare)
    for (let i = pieces.start[node]!; i < pieces.start[node + 1]!; i++) {
      const inside = Math.min(pieces.share[i]!, until - pieces.at[i]!)
      if (inside <= 1e-12) continue
      const on = pieces.on[i]!
      const needed = Math.ceil((pieces.onAt[i]! + inside) / segmentShare - 1e-9)
      if (applied[on]! < Math.min(segments[on]!, needed)) return false
    }
    return true
  }

  /** Lets the next segment of a link go, if there is one. */
  const pump = (over: number, now: number) => {
    if (isBusy[over]) return
    const lane = lanes[over]!
    while (head[over]! < lane.length && left[lane[head[over]!]!]! === segments[lane[head[over]!]!]!)
      head[over]!++
    for (let i = head[over]!; i < lane.length; i++) {
      const node = lane[i]!
      const segment = left[node]!
      if (segment === segments[node]! || !isThere(carries, node, segment)) continue
      isBusy[over] = 1
      const host = hosts[from[node]!]!
      let at = now
      if (segment === 0) {
        at = Math.max(now, processor[from[node]!]!)
        processor[from[node]!] = at + host.overhead
        begin[node] = at
      }
      // The window lets it go in time to be in when the link allows; then it queues for the uplink.
      const size = sizeOf(node, segment)
      const byLink = streams.send(over, at, size)
      inTime[over] = byLink
      queue.push(Math.max(at, byLink - latencies[over]! - host.hostBeta * size), enters!, node)
      return
    }
  }
  /** When the segment on its way out of a link may be in at the earliest, by the link alone. */
  const inTime = new Float64Array(links.length)

  const combineNext = (node: number, now: number) => {
    while (applied[node]! < arrived[node]! && isThere(joins, node, applied[node]!)) {
      applied[node]!++
      end[node] = now
      finish[to[node]!] = Math.max(finish[to[node]!]!, now)
      for (const next of carriers[node]!) pump(link[next]!, now)
      for (const next of joiners[node]!) combineNext(next, now)
    }
  }

  const handlers: ((now: number, node: number) => void)[] = []
  handlers[enters!] = (now, node) => {
    const rank = from[node]!
    const segment = left[node]!
    const size = sizeOf(node, segment)
    uplink[rank] = Math.max(uplink[rank]!, now) + hosts[rank]!.hostBeta * size
    let through = uplink[rank]!
    if (network.sharedBeta > 0 || network.sharedOverhead > 0) {
      // The overhead of a lone message is part of the latency of its link.
      const overhead = segment === 0 ? network.sharedOverhead : 0
      shared = Math.max(shared, now) + network.sharedBeta * size + overhead
      through = Math.max(through, shared - Math.min(overhead, latencies[link[node]!]!))
    }
    queue.push(through, leaves!, node)
  }
  handlers[leaves!] = (now, node) => {
    const over = link[node]!
    left[node]!++
    isBusy[over] = 0
    finish[from[node]!] = Math.max(finish[from[node]!]!, now)
    streams.held(over, now)
    queue.push(Math.max(now + latencies[over]!, inTime[over]!), arrives!, node)
    pump(over, now)
  }
  // Segments of a message arrive in order: they leave in order, and a link keeps their order.
  const landing = new Int32Array(count)
  handlers[arrives!] = (now, node) => {
    const rank = to[node]!
    const { gamma, overhead, hostBeta } = hosts[rank]!
    const segment = landing[node]!++
    const size = sizeOf(node, segment)
    downlink[rank] = Math.max(downlink[rank]! + hostBeta * size, now)
    const part = share[node]! > 0 ? size / (share[node]! * bytes || 1) : 1
    const work = gamma * combine[node]! * bytes * part
    // The overhead of a lone message is part of its curve; what finds the processor busy waits for it.
    const own = segment === 0 ? overhead : 0
    processor[rank] = Math.max(downlink[rank]! - own, processor[rank]!) + own + work
    queue.push(processor[rank]!, isCombined!, node)
  }
  handlers[isCombined!] = (now, node) => {
    arrived[node]!++
    combineNext(node, now)
  }
  handlers[wakes!] = (now, over) => pump(over, now)

  for (let over = 0; over < links.length; over++) queue.push(delayOf(links[over]![0]), wakes!, over)
  let events = 0
  const event: SimulatedEvent = { time: 0, kind: 0, node: 0 }
  while (queue.pop(event)) {
    events++
    handlers[event.kind]!(event.time, event.node)
  }
  assert(
    applied.every((done, node) => done === segments[node]),
    'every message of the schedule got through',
  )
  return { seconds: finish.reduce((a, b) => Math.max(a, b), 0), finish, begin, end, events }
}

function lanesOf(link: Int32Array, links: number): readonly (readonly number[])[] {
  const lanes: number[][] = Array.from({ length: links }, () => [])
  for (const [node, over] of link.entries()) lanes[over]!.push(node)
  return lanes
}
