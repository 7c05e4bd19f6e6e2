/** From raw samples to the agreed network model (docs/cost-model.md, "From samples to a model"). */
import { assert } from '../base/assert.ts'
import { ArgumentError } from '../base/errors.ts'
import { curveThrough, curveTime, tailBeta, withTail } from './curve.ts'
import type { CurvePoint, HostCost, LinkCurve, NetworkModel, RankMeasurement } from './types.ts'

/**
 * Sizes that every rank measures on every link, bytes. Dense where the window of an association opens, and one on the straight part. What lies
 * between two probes is priced on a slope where there is a step, so the step that matters most to small vectors, the end of the
 * first flight, has a probe on either side: of Chromium's (4.7 KB) 4608 and 5120, of libdatachannel's (12 KB) 8192 and 12288.
 */
export const probeSizes: readonly number[] = [32, 1024, 4608, 5120, 8192, 12288, 16384, 32768, 65536, 262144]

/** Below this a clock shows nothing: seconds are clamped to it, so that 0 can mean "not measured" in a row. */
const shortest = 1e-7

/**
 * One echo: `bytes` went out, `replyBytes` (default: as many) came back, `seconds` from the first send to the last
 * byte.
 */
export interface EchoSample {
  readonly bytes: number
  readonly replyBytes?: number
  readonly seconds: number
}

/** Several messages sent at once; `seconds` until the last one was acknowledged. */
export interface Burst {
  readonly messages: number
  /** Of all messages together. */
  readonly bytes: number
  readonly seconds: number
}

/** The middle value; of an even number the lower of the two, so that it is a value that was measured. */
export function median(values: readonly number[]): number {
  assert(values.length > 0, 'the median of nothing')
  // A typed array sorts numbers as numbers, without a call for each pair: there are P^2 links to take the middle of.
  const sorted = Float64Array.from(values).sort()
  return sorted[(sorted.length - 1) >> 1]!
}

/**
 * The curve of one directed link from echoes in any order. Undefined when no sample is usable.
 *
 * Per size the median is taken and not the minimum: noise is one-sided, but a step waits for its slowest message, so
 * what a message usually costs predicts a step, and what it costs on a lucky day does not. Half of the samples may be
 * spoilt. The one-way time is half of an echo of equal sizes; with a short reply it is the echo less the one-way time
 * of the reply, and the curve is then that of this direction alone.
 */
export function fitCurve(samples: readonly EchoSample[]): LinkCurve | undefined {
  const usable = samples.filter((s) => Number.isFinite(s.seconds) && s.seconds >= 0 && s.bytes > 0)
  if (usable.length === 0) return undefined
  const isEven = (s: EchoSample) => s.replyBytes === undefined || s.replyBytes === s.bytes
  const smallest = Math.min(...usable.map((s) => s.bytes))
  const short = usable.filter((s) => s.bytes === smallest)
  const replySeconds = median((short.some(isEven) ? short.filter(isEven) : short).map((s) => s.seconds)) / 2

  const bySize = new Map<number, number[]>()
  for (const sample of usable) {
    const oneWay = isEven(sample) ? sample.seconds / 2 : sample.seconds - replySeconds
    const list = bySize.get(sample.bytes) ?? []
    list.push(Math.max(shortest, oneWay))
    bySize.set(sample.bytes, list)
  }
  const points: CurvePoint[] = []
  const scatter: number[] = []
  for (const [bytes, seconds] of [...bySize].sort(([a], [b]) => a - b)) {
    const middle = median(seconds)
    points.push({ bytes, seconds: middle })
    // Relative standard error of the median; a lone sample says nothing about its scatter and counts as 100 %.
    const deviation = median(seconds.map((value) => Math.abs(value - middle)))
    scatter.push(seconds.length < 2 ? 1 : (1.86 * deviation) / (middle * Math.sqrt(seconds.length)))
  }
  return curveThrough(points, 1 / (1 + median(scatter)))
}

/**
 * Overhead per message and seconds per byte from bursts: the small ones (up to 1 KiB a message) tell the overhead, the
 * others the bytes. For a rank's own bursts count its own messages; for the bursts of all ranks at once count
 * everybody's.
 * @param alone seconds of one message and its answer with nothing else under way, by bytes of the message: what a burst
 *   takes beyond that is what messages cost each other. A number is the same for all sizes, which is too little where
 *   windows rule.
 */
export function fitBursts(
  bursts: readonly Burst[],
  alone: number | ((bytes: number) => number),
): { overhead: number; beta: number } {
  const beyond = ({ messages, bytes, seconds }: Burst) =>
    Math.max(0, seconds - (typeof alone === 'number' ? alone : alone(bytes / messages)))
  const isSmall = ({ messages, bytes }: Burst) => bytes <= 1024 * messages
  const small = bursts.filter(isSmall).map((burst) => beyond(burst) / burst.messages)
  const overhead = small.length > 0 ? median(small) : 0
  const large = bursts
    .filter((burst) => !isSmall(burst))
    .map((burst) => Math.max(0, beyond(burst) - overhead * burst.messages) / burst.bytes)
  return { overhead, beta: large.length > 0 ? median(large) : 0 }
}

const rowHeader = 5
const perLink = probeSizes.length + 2

/** Float32 numbers in a rank's row. */
export function rowLength(size: number): number {
  return rowHeader + size * perLink
}

/**
 * A rank's measurements as numbers of fixed count, to travel by a collective: gamma, overhead, hostBeta, sharedBeta,
 * sharedOverhead, then for each rank the seconds at each probe size (0: not measured), the confidence, and the seconds per
 * byte of a long stream (0: not measured).
 */
export function encodeRow(measurement: RankMeasurement): Float32Array {
  const size = measurement.links.length
  const row = new Float32Array(rowLength(size))
  row.set([
    measurement.gamma,
    measurement.overhead,
    measurement.hostBeta,
    measurement.sharedBeta,
    measurement.sharedOverhead,
  ])
  measurement.links.forEach((curve, to) => {
    if (!curve) return
    const at = rowHeader + to * perLink
    const first = curve.points[0]!.bytes
    const last = curve.points[curve.points.length - 1]!.bytes
    probeSizes.forEach((bytes, i) => {
      if (bytes >= first && bytes <= last) row[at + i] = Math.max(shortest, curveTime(curve, bytes))
    })
    row[at + probeSizes.length] = curve.confidence ?? 0
    row[at + probeSizes.length + 1] = curve.tail ?? 0
  })
  return row
}

/** The inverse of encodeRow, to Float32 precision. Numbers that no clock can give count as not measured. */
export function decodeRow(row: Float32Array, size: number): RankMeasurement {
  if (row.length !== rowLength(size))
    throw new ArgumentError(
      'row',
      `A row of ${size} ranks has ${rowLength(size)} numbers, not ${row.length}.`,
    )
  const sane = (value: number | undefined) =>
    value !== undefined && Number.isFinite(value) && value > 0 ? value : 0
  const links = Array.from({ length: size }, (_, to) => {
    const at = rowHeader + to * perLink
    const points = probeSizes
      .map((bytes, i) => ({ bytes, seconds: sane(row[at + i]) }))
      .filter((point) => point.seconds > 0)
    if (points.length === 0) return undefined
    const curve = curveThrough(points, Math.min(1, sane(row[at + probeSizes.length])))
    const tail = sane(row[at + probeSizes.length + 1])
    return tail > 0 ? { ...curve, tail } : curve
  })
  return {
    gamma: sane(row[0]),
    overhead: sane(row[1]),
    hostBeta: sane(row[2]),
    sharedBeta: sane(row[3]),
    sharedOverhead: sane(row[4]),
    links,
  }
}

/**
 * The agreed model from every rank's row, in rank order: the same bits on every rank, because the rows are and
 * because only exactly rounded operations follow. A direction that was not measured takes the other one's curve. The
 * slowest rank stands for all where one number is asked for; what all ranks share is the median of what they saw.
 */
export function foldModel(rows: readonly Float32Array[], version: number): NetworkModel {
  const size = rows.length
  const ranks = rows.map((row) => decodeRow(row, size))
  const curves = ranks.map((rank, from) =>
    rank.links.map((curve, to) => (from === to ? undefined : (curve ?? ranks[to]!.links[from]))),
  )
  const hosts = ranks.map((rank, from) => ({
    gamma: rank.gamma || guessHost.gamma,
    overhead: rank.overhead || guessHost.overhead,
    // An uplink that nobody measured carries at least what its fastest link carries alone.
    hostBeta:
      rank.hostBeta || Math.min(...curves[from]!.flatMap((curve) => (curve ? [tailBeta(curve)] : []))),
  }))
  for (const host of hosts) if (host.hostBeta === Number.POSITIVE_INFINITY) host.hostBeta = guessHost.hostBeta
  const links = curves.map((row, from) =>
    row.map((curve, to) => curve && withTail(curve, Math.max(hosts[from]!.hostBeta, hosts[to]!.hostBeta))),
  )
  const slowest = (pick: (host: HostCost) => number) => Math.max(...hosts.map(pick))
  const shared = (pick: (rank: RankMeasurement) => number) => {
    const measured = ranks.map(pick).filter((value) => value > 0)
    return measured.length > 0 ? median(measured) : 0
  }
  return {
    version,
    size,
    links,
    hosts,
    gamma: slowest((host) => host.gamma),
    overhead: slowest((host) => host.overhead),
    hostBeta: slowest((host) => host.hostBeta),
    sharedBeta: shared((rank) => rank.sharedBeta),
    sharedOverhead: shared((rank) => rank.sharedOverhead),
  }
}

/** A group of tabs on a good local network: half a millisecond one way, 25 MB/s, plain JavaScript kernels. */
const guessHost: HostCost = { gamma: 6e-10, overhead: 3e-5, hostBeta: 4e-8 }
const guessAlpha = 5e-4

/** What is assumed before anything is measured: version 0, every link alike. */
export function guessModel(size: number): NetworkModel {
  const curve = curveThrough(
    probeSizes.map((bytes) => ({ bytes, seconds: guessAlpha + bytes * guessHost.hostBeta })),
    0,
  )
  const links = Array.from({ length: size }, (_, from) =>
    Array.from({ length: size }, (_, to) => (from === to ? undefined : curve)),
  )
  return { version: 0, size, links, ...guessHost }
}
