/** From what the ranks have measured to the rows of the table. */
import type { Collective } from '../schedule/types.ts'
import { busFactor } from './amounts.ts'
import type { Row, Sample } from './events.ts'
import type { Measured, Mode } from './measure.ts'
import type { Average, BenchCase, BenchPlan } from './plan.ts'
import { spreadOf } from './stats.ts'
import type { Variant } from './variants.ts'

export function rowsOf(
  plan: BenchPlan,
  variants: readonly Variant[],
  given: BenchCase,
  measured: Measured,
  cycle: number,
): Row[] {
  const { iterations, aggregate, reports, bytesSent } = measured
  const { dtype, op, root, amounts } = given
  const rows = variants.map((variant, at): Row => {
    const sample = (mode: Mode) => sampleOf(plan, amounts.bytes, measured, at, mode)
    const report = reports[variant.of ?? at]!
    const { algorithm, settings, steps } = report
    return {
      cycle,
      bytes: amounts.bytes,
      count: amounts.count,
      dtype,
      op,
      root,
      label: variant.label,
      baseline: variant.baseline,
      algorithm,
      settings,
      r: typeof settings.r === 'number' ? settings.r : undefined,
      steps,
      bytesSent: bytesSent[at]!,
      predictedSeconds: variant.of === undefined ? report.predictedSeconds : undefined,
      iterations,
      aggregate,
      outOfPlace: sample('outOfPlace')!,
      inPlace: sample('inPlace'),
      ratios: {},
    }
  })
  return rows.map((row, at) => ({ ...row, ratios: ratiosOf(row, at, rows, variants) }))
}

function ratiosOf(row: Row, at: number, rows: readonly Row[], variants: readonly Variant[]): Row['ratios'] {
  if (row.baseline) return {}
  const compared = variants.flatMap(({ baseline, of }, other) =>
    baseline && (of === undefined || of === at)
      ? [[baseline, rows[other]!.outOfPlace.seconds / row.outOfPlace.seconds] as const]
      : [],
  )
  return Object.fromEntries(compared)
}

function sampleOf(
  plan: BenchPlan,
  bytes: number,
  { series, seconds, wrong, bytesSent }: Measured,
  variant: number,
  mode: Mode,
): Sample | undefined {
  const at = series.findIndex((each) => each.variant === variant && each.mode === mode)
  if (at < 0) return undefined
  const byRank = seconds.map((ofRank) => ofRank[at]!)
  const times = byRank[0]!.map((_, iteration) =>
    averageOf(
      plan.average,
      byRank.map((ofRank) => ofRank[iteration]!),
    ),
  )
  const means = byRank.map((ofRank) => spreadOf(ofRank).avg)
  const { min, max, avg } = spreadOf(means)
  const spread = spreadOf(times)
  return {
    seconds: spread.p50,
    ...bandwidthsOf(plan.collective, byRank.length, bytes, bytesSent[variant]!, spread.p50),
    wrong: wrong[at],
    spread,
    times,
    byRank: { min, max, avg },
  }
}

/** Bytes per second; 0 where nothing has a size. */
export function bandwidthsOf(
  collective: Collective,
  size: number,
  bytes: number,
  bytesSent: number,
  seconds: number,
): Pick<Sample, 'algbw' | 'busbw' | 'wirebw'> {
  const algbw = seconds > 0 ? bytes / seconds : 0
  return {
    algbw,
    busbw: algbw * busFactor(collective, size),
    wirebw: seconds > 0 ? bytesSent / seconds : 0,
  }
}

function averageOf(average: Average, byRank: readonly number[]): number {
  switch (average) {
    case 'rank0':
      return byRank[0]!
    case 'avg':
      return byRank.reduce((sum, seconds) => sum + seconds, 0) / byRank.length
    case 'min':
      return Math.min(...byRank)
    case 'max':
      return Math.max(...byRank)
  }
}
