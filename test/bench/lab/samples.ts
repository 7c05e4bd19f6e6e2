/** From what each rank has seen to samples of whole calls, and from those to summaries. A sample is a line of the JSON that a run writes. */
import { type LabNetwork, roundTrip, secondsPerByte } from '../../lab/network.ts'
import { median } from '../statistics.ts'
import type { RankLinks, RankSample } from './member.ts'
import type { MpiCall } from './mpiOutput.ts'

/** One call. Seconds and bytes. */
export interface Sample {
  readonly kind: 'sample'
  readonly network: LabNetwork
  readonly peers: 'node' | 'tabs'
  readonly size: number
  readonly bytes: number
  readonly label: string
  readonly round: number
  /** From the last rank's start to the last rank's end. */
  readonly seconds: number
  /** The longest time that a rank spent in the call: the wait for those that began later included. */
  readonly slowest: number
  /** Of the machine, in the last minute. */
  readonly load: number
  /** Frames that the switch dropped in the meantime. */
  readonly dropped?: number
  /** Sent or received by the rank that moved most. */
  readonly busiest: number
  readonly predicted?: number
  readonly chosen?: string
  readonly isWrong: boolean
}

/** What the links of a group were found to be, before its first round. */
export interface LinkSample {
  readonly kind: 'links'
  readonly network: LabNetwork
  readonly peers: 'node' | 'tabs'
  readonly size: number
  readonly date: string
  readonly load: number
  readonly ranks: readonly RankLinks[]
}

/** A call of MPI, as a sample beside ours. */
export function mpiSample({ bytes, seconds, slowest, isWrong }: MpiCall, about: About): Sample {
  return { kind: 'sample', ...about, bytes, label: 'mpi', seconds, slowest, busiest: 0, isWrong }
}

/** What a run writes, line by line. */
export type Line = Sample | LinkSample

export type About = Pick<Sample, 'network' | 'peers' | 'size' | 'round' | 'load' | 'dropped'>

/** One call as all ranks saw it. */
export function joinRanks(seen: readonly RankSample[], about: About): Sample {
  const [{ bytes, label, predicted, chosen }] = seen as [RankSample]
  const lastEnd = Math.max(...seen.map(({ end }) => end))
  const lastBegin = Math.max(...seen.map(({ begin }) => begin))
  return {
    kind: 'sample',
    ...about,
    bytes,
    label,
    seconds: lastEnd - lastBegin,
    slowest: Math.max(...seen.map(({ begin, end }) => end - begin)),
    busiest: Math.max(...seen.flatMap(({ sent, received }) => [sent, received])),
    ...(predicted !== undefined && { predicted }),
    ...(chosen !== undefined && { chosen }),
    isWrong: seen.some(({ isWrong }) => isWrong),
  }
}

/** All calls of one candidate with vectors of one size. */
export interface Summary {
  readonly label: string
  readonly seconds: readonly number[]
  readonly median: number
  /** Median of the longest times that a rank spent in it. */
  readonly slowest: number
  readonly predicted: number | undefined
  /** predicted / measured - 1 */
  readonly error: number | undefined
  readonly chosen: string | undefined
  /** Bytes per second of the rank that moved most, as a part of its line's; undefined without a limit of rate. */
  readonly use: number | undefined
  /** Frames dropped per call. */
  readonly dropped: number
  readonly wrong: number
}

/** One size of vector in one group on one network: the fastest first. */
export interface Cell {
  readonly network: LabNetwork
  readonly peers: 'node' | 'tabs'
  readonly size: number
  readonly bytes: number
  readonly summaries: readonly Summary[]
  readonly auto: Summary | undefined
  /** Of all that were measured, MPI and bare channels apart: those are not ours to choose. */
  readonly best: Summary | undefined
  /** How much longer auto takes than the best, 0.03 = 3 %. */
  readonly regret: number | undefined
  /** Of the machine, least and most. */
  readonly load: readonly [number, number]
  /** See floorOf. */
  readonly floor: number
}

export const foreign: readonly string[] = ['raw', 'mpi']

export function summarize(samples: readonly Sample[]): Cell[] {
  const groups = new Map<string, Sample[]>()
  for (const sample of samples) {
    const key = keyOf(sample)
    const group = groups.get(key)
    if (group) group.push(sample)
    else groups.set(key, [sample])
  }
  return [...groups.values()].map(cellOf)
}

function keyOf({ network, peers, size, bytes }: Sample): string {
  return JSON.stringify([network, peers, size, bytes])
}

function cellOf(samples: readonly Sample[]): Cell {
  const [{ network, peers, size, bytes }] = samples as [Sample]
  const labels = [...new Set(samples.map(({ label }) => label))]
  const summaries = labels
    .map((label) =>
      summaryOf(
        label,
        samples.filter((sample) => sample.label === label),
      ),
    )
    .sort((a, b) => a.median - b.median)
  const ours = summaries.filter(({ label }) => !foreign.includes(label))
  const auto = summaries.find(({ label }) => label === 'auto')
  const [best] = ours
  return {
    network,
    peers,
    size,
    bytes,
    summaries,
    auto,
    best,
    regret: auto && best ? auto.median / best.median - 1 : undefined,
    load: [Math.min(...samples.map(({ load }) => load)), Math.max(...samples.map(({ load }) => load))],
    floor: floorOf(network, size, bytes),
  }
}

function summaryOf(label: string, samples: readonly Sample[]): Summary {
  const [{ network, busiest }] = samples as [Sample]
  const seconds = samples.map((sample) => sample.seconds)
  const typical = median(seconds)
  const predictions = samples.flatMap(({ predicted }) => predicted ?? [])
  const predicted = predictions.length > 0 ? median(predictions) : undefined
  const line = secondsPerByte(network)
  const chosen = [...new Set(samples.flatMap((sample) => sample.chosen ?? []))].join(' or ')
  return {
    label,
    seconds,
    median: typical,
    slowest: median(samples.map((sample) => sample.slowest)),
    predicted,
    error: predicted === undefined ? undefined : predicted / typical - 1,
    chosen: chosen || undefined,
    use: line > 0 && busiest > 0 ? (busiest * line) / typical : undefined,
    dropped: samples.reduce((sum, { dropped = 0 }) => sum + dropped, 0) / samples.length,
    wrong: samples.filter(({ isWrong }) => isWrong).length,
  }
}

/**
 * What the better of two meshes takes at the least: everybody sends everything at once; or each gets a share of everybody, and then
 * everybody's share of the result. Headers are not counted.
 */
export function floorOf(network: LabNetwork, size: number, bytes: number): number {
  const oneWay = roundTrip(network) / 2000
  const line = secondsPerByte(network)
  const others = size - 1
  return Math.min(oneWay + others * bytes * line, 2 * oneWay + ((2 * others) / size) * bytes * line)
}
