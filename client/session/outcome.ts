/** What a run has shown: whether the result is right, whether all ranks hold the same bits, how long it took. */
import type { Member } from '../../shared/membership/types.ts'
import type { Settings } from '../../shared/schedule/types.ts'
import type { RankResult } from './messages.ts'
import type { Compared } from './part.ts'

/** What is known of a run when it is judged. */
export interface RunResults {
  /** Who was in the group when it began, in rank order. */
  readonly members: readonly Member[]
  /** Of them, those who left while it ran, in the order of leaving. */
  readonly lost: readonly Member[]
  /** By variant, then by peerId. */
  readonly results: ReadonlyMap<number, ReadonlyMap<string, RankResult>>
  readonly spreads: ReadonlyMap<number, Compared>
}

/** Who still takes part, in rank order. */
export function survivorsOf({ members, lost }: Pick<RunResults, 'members' | 'lost'>): readonly Member[] {
  return lost.length === 0 ? members : members.filter((member) => !lost.includes(member))
}

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
export function contributorsOf(run: RunResults, variant: number): readonly Member[] {
  const [first] = run.results.get(variant)?.values() ?? []
  if (!first) return survivorsOf(run)
  return first.contributors.flatMap((id) => run.members.find((member) => member.peerId === id) ?? [])
}

/** What all ranks together say of one variant; undefined before any has told. */
export function outcomeOf(run: RunResults, variant: number): Outcome | undefined {
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
