/** What a run has shown: whether the result is right, whether all ranks hold the same bits, how long it took. */

import type { Member } from '../../../shared/membership/types.ts'
import type { Settings } from '../../../shared/schedule/types.ts'
import type { RankResult } from '../../session/messages.ts'
import { type RunState, survivorsOf } from './runState.ts'

/** What a report names as algorithm when the rank got the finished result from another one. */
export const takenOver = 'adopt'

export interface Outcome {
  readonly variant: number
  readonly algorithm: string
  readonly settings: Settings
  readonly steps: number
  /** Ranks that have told their result, of `askedFor`. */
  readonly told: number
  /** Ranks that are still here and have to tell. */
  readonly askedFor: number
  /** Ranks whose data are in the result. */
  readonly size: number
  /** Ranks that left during the run, and those of them whose data are not in the result. */
  readonly lost: number
  readonly missing: number
  /** Ranks without a wrong element. */
  readonly correct: number
  /** Wrong elements over all ranks and repeats. */
  readonly wrong: number
  readonly exact: boolean
  readonly largestError: number
  /** All ranks hold the same bits; undefined while some have not told. */
  readonly identical: boolean | undefined
  readonly identicalByDesign: boolean
  readonly ulps: number | undefined
  readonly differing: number | undefined
  readonly compared: number | undefined
  readonly bytesSent: number
  readonly times: Times
  readonly predictedSeconds: number
  readonly why: string
}

export interface Times {
  /** One per repeat: the mean over the ranks. */
  readonly seconds: readonly number[]
  readonly median: number
  readonly p95: number
}

/** Whose data are in the result, in rank order: when members were lost, the survivors. */
export function contributorsOf(run: RunState, variant: number): readonly Member[] {
  const [first] = run.results.get(variant)?.values() ?? []
  if (!first) return survivorsOf(run)
  return first.contributors.flatMap((id) => run.members.find((member) => member.peerId === id) ?? [])
}

/** What all ranks together say of one variant; undefined before any has told. */
export function outcomeOf(run: RunState, variant: number): Outcome | undefined {
  const results = [...(run.results.get(variant)?.values() ?? [])]
  // Who took the finished result over from another peer knows no schedule.
  const first = results.find((result) => result.algorithm !== takenOver) ?? results[0]
  if (!first) return undefined
  const spread = run.spreads.get(variant)
  // Survivors of a lost peer agree on whose data are in the result.
  const size = first.contributors.length
  const askedFor = survivorsOf(run).length
  return {
    variant,
    algorithm: first.algorithm,
    settings: first.settings,
    steps: first.steps,
    told: results.length,
    askedFor,
    size,
    lost: run.lost.length,
    missing: run.members.length - size,
    correct: results.filter((result) => result.wrong === 0).length,
    wrong: results.reduce((sum, result) => sum + result.wrong, 0),
    exact: first.exact,
    largestError: Math.max(...results.map((result) => result.largestError)),
    identical:
      results.length < askedFor ? undefined : new Set(results.map((result) => result.hash)).size === 1,
    identicalByDesign: first.identicalByDesign,
    ulps: spread?.ulps,
    differing: spread?.elements,
    compared: spread?.compared,
    bytesSent: Math.max(...results.map((result) => result.bytesSent)),
    times: timesOf(results),
    predictedSeconds: first.predictedSeconds,
    why: first.why,
  }
}

export function outcomesOf(run: RunState): Outcome[] {
  return run.start.spec.variants.flatMap((_, variant) => outcomeOf(run, variant) ?? [])
}

/** The time of a repeat is the mean over the ranks, as nccl-tests reports it by default. */
function timesOf(results: readonly RankResult[]): Times {
  const repeats = Math.min(...results.map((result) => result.seconds.length))
  const seconds = Array.from(
    { length: repeats },
    (_, repeat) => results.reduce((sum, result) => sum + result.seconds[repeat]!, 0) / results.length,
  )
  return { seconds, median: quantile(seconds, 0.5), p95: quantile(seconds, 0.95) }
}

/** Linear between the two nearest; NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  if (sorted.length === 0) return Number.NaN
  const at = (sorted.length - 1) * q
  const below = Math.floor(at)
  const low = sorted[below]!
  return low + ((sorted[below + 1] ?? low) - low) * (at - below)
}

/** What makes measurements comparable: they then belong in one table. */
export interface Setting {
  readonly bytes: number
  readonly dtype: string
  readonly op: string
  /** Members in rank order: the same peers on the same links. */
  readonly members: string
}

export function settingOf(run: RunState): Setting {
  const { bytes, dtype, op } = run.start.spec
  return { bytes, dtype, op, members: run.members.map((member) => member.peerId).join(' ') }
}

export function settingsKey(algorithm: string, settings: Settings): string {
  const pairs = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${algorithm} ${pairs.map(([name, value]) => `${name}=${value}`).join(' ')}`
}

export interface Measured extends Times {
  readonly algorithm: string
  readonly settings: Settings
}

/** All measurements of finished runs with this setting, pooled by algorithm and settings (`settingsKey`). */
export function measurementsFor(history: readonly RunState[], setting: Setting): Map<string, Measured> {
  const pools = new Map<string, { algorithm: string; settings: Settings; seconds: number[] }>()
  for (const run of history) {
    if (JSON.stringify(settingOf(run)) !== JSON.stringify(setting)) continue
    for (const { algorithm, settings, times, lost } of outcomesOf(run)) {
      // The time in which a loss was noticed and the rest began anew is no time of the schedule.
      if (lost > 0) continue
      const key = settingsKey(algorithm, settings)
      const pool = pools.get(key) ?? { algorithm, settings, seconds: [] }
      pools.set(key, pool)
      pool.seconds.push(...times.seconds)
    }
  }
  return new Map(
    [...pools].map(([key, pool]) => [
      key,
      { ...pool, median: quantile(pool.seconds, 0.5), p95: quantile(pool.seconds, 0.95) },
    ]),
  )
}
