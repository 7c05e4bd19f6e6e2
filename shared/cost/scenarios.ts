/**
 * Networks to study without having them: what the simulator runs on, and what a group that measures them would agree
 * on.
 */
import { createPrng } from '../base/prng.ts'
import { findAlgorithm } from '../schedule/registry.ts'
import { compileAlgorithm } from './compile.ts'
import { curveThrough, curveTime, latencyOf } from './curve.ts'
import { type EchoSample, encodeRow, fitBursts, fitCurve, foldModel, probeSizes } from './fit.ts'
import type { Network } from './network.ts'
import { simulate } from './simulate.ts'
import type { HostCost, LinkCurve, NetworkModel } from './types.ts'

export interface Scenario extends Network {
  readonly name: string
  readonly size: number
}

export interface WindowOptions {
  /** One way, seconds. */
  readonly latency: number
  /** Seconds per byte once the window does not matter. */
  readonly beta: number
  /**
   * Bytes that leave at once after a pause: 4.7 KB (Chromium) or 12 KB (libdatachannel); no limit: a straight line.
   */
  readonly firstFlight?: number
}

/**
 * The curve of an association whose window starts at one flight and doubles with each round trip, until it holds what
 * the link carries in a round trip.
 */
export function windowCurve({
  latency,
  beta,
  firstFlight = Number.POSITIVE_INFINITY,
}: WindowOptions): LinkCurve {
  const roundTrip = 2 * latency
  const seconds = (bytes: number) => {
    let [sent, flight, waited] = [0, firstFlight, 0]
    while (sent + flight < bytes && flight * beta < roundTrip) {
      // The next flight leaves when the first acknowledgement of this one is back.
      waited += roundTrip - flight * beta
      sent += flight
      flight *= 2
    }
    return latency + waited + bytes * beta
  }
  // The end of a flight and the byte behind it: a straight piece each.
  const sizes = new Set([1, ...probeSizes, 2 ** 20, 2 ** 22])
  for (let flight = firstFlight, end = firstFlight; flight * beta < roundTrip; flight *= 2, end += flight)
    for (const size of [end, end + 1]) sizes.add(size)
  const points = [...sizes].sort((a, b) => a - b).map((bytes) => ({ bytes, seconds: seconds(bytes) }))
  return curveThrough(points, 1)
}

/** Tabs of one browser: no round trip to speak of, and one processor that moves all bytes. */
export function loopback(size: number): Scenario {
  const curve = windowCurve({ latency: 2.5e-4, beta: 2.5e-8 })
  const host: HostCost = { gamma: 6e-10, overhead: 3e-5, hostBeta: 2.5e-8 }
  return even('loopback', size, curve, host, { sharedBeta: 2.5e-8, sharedOverhead: 2e-5 })
}

/** A classroom: all laptops share the air of one access point, and each message crosses it twice. */
export function classroom(size: number): Scenario {
  const curve = windowCurve({ latency: 2e-3, beta: 2e-7, firstFlight: 4700 })
  const host: HostCost = { gamma: 1e-9, overhead: 5e-5, hostBeta: 1e-7 }
  return even('classroom', size, curve, host, { sharedBeta: 2e-7, sharedOverhead: 2e-4 })
}

/** Homes: 5 to 60 ms between them, uplinks of 4 to 100 Mbit/s, downlinks not tighter. */
export function internet(size: number, seed = 1): Scenario {
  const prng = createPrng(seed)
  const homes = Array.from({ length: size }, () => ({
    x: prng.next(),
    y: prng.next(),
    hostBeta: 8e-8 * 25 ** prng.next(),
  }))
  const curves = homes.map((a) =>
    homes.map((b) =>
      windowCurve({
        latency: 5e-3 + 40e-3 * Math.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2),
        beta: Math.max(a.hostBeta, b.hostBeta),
        firstFlight: 4700,
      }),
    ),
  )
  return {
    name: 'internet',
    size,
    link: (from, to) => curves[from]![to]!,
    host: (rank) => ({ gamma: 1e-9, overhead: 5e-5, hostBeta: homes[rank]!.hostBeta }),
    sharedBeta: 0,
    sharedOverhead: 0,
  }
}

function even(
  name: string,
  size: number,
  curve: LinkCurve,
  host: HostCost,
  shared: Pick<Network, 'sharedBeta' | 'sharedOverhead'>,
): Scenario {
  return { name, size, link: () => curve, host: () => host, ...shared }
}

/** The network as a model that knows it exactly. */
export function modelOf(scenario: Scenario): NetworkModel {
  const { size, sharedBeta, sharedOverhead } = scenario
  const ranks = Array.from({ length: size }, (_, rank) => rank)
  const hosts = ranks.map((rank) => scenario.host(rank))
  const slowest = (pick: (host: HostCost) => number) =>
    hosts.reduce((most, host) => Math.max(most, pick(host)), 0)
  return {
    version: 1,
    size,
    links: ranks.map((from) => ranks.map((to) => (from === to ? undefined : scenario.link(from, to)))),
    hosts,
    gamma: slowest((host) => host.gamma),
    overhead: slowest((host) => host.overhead),
    hostBeta: slowest((host) => host.hostBeta),
    sharedBeta,
    sharedOverhead,
  }
}

/**
 * The model that a group on this network agrees on: echoes on every link alone, then all ranks send to all at once.
 * @param noise relative, one-sided: 0.2 makes echoes up to 20 % slower
 */
export function measureScenario(scenario: Scenario, noise = 0, seed = 1): NetworkModel {
  const { size, sharedBeta, sharedOverhead } = scenario
  const prng = createPrng(seed)
  const host = (rank: number) => scenario.host(rank)
  const oneWay = (from: number, to: number, bytes: number) => {
    const curve = scenario.link(from, to)
    const line = Math.max(host(from).hostBeta, host(to).hostBeta, sharedBeta)
    return Math.max(curveTime(curve, bytes), latencyOf(curve) + line * bytes)
  }
  const shared = size < 2 ? { overhead: 0, beta: 0 } : measureShared(scenario)
  const rows = Array.from({ length: size }, (_, from) => {
    const links = Array.from({ length: size }, (_, to) => {
      if (from === to) return undefined
      const samples = probeSizes.flatMap((bytes) =>
        Array.from({ length: 5 }, (): EchoSample => {
          const seconds = oneWay(from, to, bytes) + oneWay(to, from, bytes)
          return { bytes, seconds: seconds * (1 + noise * prng.next()) }
        }),
      )
      return fitCurve(samples)
    })
    return encodeRow({
      ...host(from),
      links,
      sharedBeta: sharedBeta > 0 ? shared.beta : 0,
      sharedOverhead: sharedOverhead > 0 ? shared.overhead : 0,
    })
  })
  return foldModel(rows, 1)
}

/** What all ranks share, from two exchanges of all with all. */
function measureShared(scenario: Scenario): { overhead: number; beta: number } {
  const { size } = scenario
  const traffic = compileAlgorithm(findAlgorithm('direct', 'alltoall'), size, {}).all()
  const messages = size * (size - 1)
  const bursts = [32, 65536].map((perMessage) => ({
    messages,
    bytes: messages * perMessage,
    seconds: simulate(traffic, perMessage / traffic.share[0]!, scenario).seconds,
  }))
  const alone = (bytes: number) => {
    let slowest = 0
    for (let to = 1; to < size; to++) slowest = Math.max(slowest, curveTime(scenario.link(0, to), bytes))
    return slowest
  }
  return fitBursts(bursts, alone)
}
