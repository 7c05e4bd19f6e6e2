/**
 * The agreed model in the form that the predictor asks it in. Links and hosts that differ no more than their noise
 * count as alike.
 */
import { curveThrough, curveTime, tailBeta } from './curve.ts'
import { median, probeSizes } from './fit.ts'
import type { HostCost, LinkCurve, NetworkModel } from './types.ts'

export interface Network {
  /** Links that nobody measured are taken to be like the median one. */
  link(from: number, to: number): LinkCurve
  host(rank: number): HostCost
  readonly sharedBeta: number
  readonly sharedOverhead: number
}

export interface PreparedNetwork extends Network {
  /** All links cost about the same, and all hosts. */
  readonly isAlike: boolean
  /** Every link like the median link and every host like the median host. */
  readonly typical: Network
  /** Every link like the median link and every host like the slowest host. */
  readonly slowest: Network
}

/**
 * Links are alike when none is, over all sizes, more than half as slow again as the median link, or faster in
 * proportion. Medians of a few samples scatter that much on one machine, and a step that waits for the worst of many
 * noisy figures would be priced too high wherever it has many messages.
 */
const alikeFactor = 1.5

const prepared = new WeakMap<NetworkModel, PreparedNetwork>()

export function networkOf(model: NetworkModel): PreparedNetwork {
  const known = prepared.get(model)
  if (known) return known
  const network = prepare(model)
  prepared.set(model, network)
  return network
}

function prepare(model: NetworkModel): PreparedNetwork {
  const curves = model.links.flatMap((row) => row.filter((curve) => curve !== undefined))
  const typical = typicalCurve(curves)
  const hosts = model.hosts ?? Array.from({ length: model.size }, (): HostCost => model)
  const middle: HostCost = {
    gamma: median(hosts.map((host) => host.gamma)),
    overhead: median(hosts.map((host) => host.overhead)),
    hostBeta: median(hosts.map((host) => host.hostBeta)),
  }
  const typicalTimes = probeSizes.map((bytes) => curveTime(typical, bytes))
  const isAlike =
    [...new Set(curves)].every((curve) => isNear(levelOf(curve, typicalTimes), 1)) &&
    hosts.every(
      (host) =>
        isNear(host.gamma, middle.gamma) &&
        isNear(host.overhead, middle.overhead) &&
        isNear(host.hostBeta, middle.hostBeta),
    )
  const shared = { sharedBeta: model.sharedBeta ?? 0, sharedOverhead: model.sharedOverhead ?? 0 }
  const even: Network = { link: () => typical, host: () => middle, ...shared }
  const measured: Network = {
    link: (from, to) => model.links[from]?.[to] ?? typical,
    host: (rank) => hosts[rank] ?? middle,
    ...shared,
  }
  const slowest: Network = { ...even, host: () => model }
  return { ...(isAlike ? even : measured), isAlike, typical: even, slowest }
}

/** At each probe size the median of all links. */
function typicalCurve(curves: readonly LinkCurve[]): LinkCurve {
  if (curves.length === 0) return curveThrough([{ bytes: 1, seconds: 1e-7 }], 0)
  const distinct = new Set(curves)
  if (distinct.size === 1) return curves[0]!
  const middle = (pick: (curve: LinkCurve) => number) => median(curves.map(pick))
  const points = probeSizes.map((bytes) => ({ bytes, seconds: middle((curve) => curveTime(curve, bytes)) }))
  return {
    ...curveThrough(
      points,
      middle((curve) => curve.confidence ?? 0),
    ),
    tail: middle(tailBeta),
  }
}

/** How slow a link is against the typical one: the mean over the probe sizes of the ratio of their times. */
function levelOf(curve: LinkCurve, typicalTimes: readonly number[]): number {
  let sum = 0
  for (let i = 0; i < probeSizes.length; i++) sum += curveTime(curve, probeSizes[i]!) / typicalTimes[i]!
  return sum / probeSizes.length
}

function isNear(value: number, middle: number): boolean {
  return value <= middle * alikeFactor && middle <= value * alikeFactor
}
