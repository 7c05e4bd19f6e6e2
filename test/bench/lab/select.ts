/** Which candidates are measured beside `auto`: as many as may be the fastest, and the baselines that people would build. */
import type { Prediction } from '../../../shared/cost/types.ts'
import { type Candidate, labelOf } from './member.ts'

/** What a program does that knows of no collective, and what textbooks do. */
export const baselines = ['raw', 'one-shot', 'star', 'ring', 'recursive-doubling'] as const
export type Baseline = (typeof baselines)[number]

export const baselineNotes: Readonly<Record<Baseline, string>> = {
  raw: 'send to all, bare channels',
  'one-shot': 'send to all',
  star: 'through one peer',
  ring: 'ring',
  'recursive-doubling': 'recursive doubling with fold',
}

export interface Selection {
  readonly consistency: Candidate['consistency']
  readonly baselines: readonly Baseline[]
  /**
   * Candidates that are predicted to take up to so many times as long as the fastest; the best of each algorithm counts up to twice that.
   * 0: only what is named.
   */
  readonly within: number
  /** Names of algorithms whose best variant is measured in any case; with a `*` behind it, every variant. */
  readonly named: readonly string[]
  /** No more than so many predicted ones, the fastest first. Baselines and what is named come on top. */
  readonly most: number
}

/** @param predictions of all candidates, fastest first */
export function selectCandidates(predictions: readonly Prediction[], selection: Selection): Candidate[] {
  const { consistency, within, named, most } = selection
  const fastest = predictions[0]?.seconds ?? 0
  const isNamed = (algorithm: string, isFirst: boolean) =>
    named.includes(`${algorithm}*`) || (isFirst && named.includes(algorithm))
  const algorithms = new Set<string>()
  const chosen = predictions.filter(({ algorithm, seconds }) => {
    const isFirst = !algorithms.has(algorithm)
    algorithms.add(algorithm)
    if (isNamed(algorithm, isFirst)) return true
    return seconds <= fastest * within * (isFirst ? 2 : 1)
  })
  const kept = chosen.filter(
    ({ algorithm }, at) => at < most || named.includes(algorithm) || named.includes(`${algorithm}*`),
  )
  const labels = new Set(kept.map(({ algorithm, settings }) => labelOf(algorithm, settings)))
  const isThere = (baseline: Baseline) =>
    labels.has(baseline) || (baseline === 'ring' && labels.has('window window 1'))
  return [
    { label: 'auto', algorithm: 'auto', consistency },
    ...kept.map(({ algorithm, settings }) => ({
      label: labelOf(algorithm, settings),
      algorithm,
      settings,
      consistency,
    })),
    ...selection.baselines
      .filter((baseline) => !isThere(baseline))
      .map((baseline): Candidate => ({ label: baseline, algorithm: baseline, consistency: 'fast' })),
  ]
}
