/** What a benchmark tells while it runs, and what is left of it at the end. Seconds and bytes. */
import type { TracedOp } from '../collective/trace.ts'
import type { NetworkModel } from '../cost/types.ts'
import type { Settings } from '../schedule/types.ts'
import type { DType } from '../wire/dtype.ts'
import type { OperatorName } from '../wire/operator.ts'
import type { Baseline, BenchPlan } from './plan.ts'
import type { Spread } from './stats.ts'

/** One rank, for people who read the table. */
export interface BenchRank {
  readonly name: string
  /** `tab`, `node`, `memory` ... */
  readonly kind: string
  /** Browser or runtime with its version. */
  readonly agent: string
  /** Smallest difference that its clock shows. */
  readonly tick: number
  /** How many of its links go which way: `host: 6`. */
  readonly paths: Readonly<Record<string, number>>
}

export interface BenchStart {
  readonly plan: BenchPlan
  readonly epoch: number
  readonly ranks: readonly BenchRank[]
  /** What the choice is made with. */
  readonly model: NetworkModel
  readonly cases: number
}

/** A variant out of place or in place. */
export interface Sample {
  /** Median over the iterations of the time of all ranks (plan.average). */
  readonly seconds: number
  /** Bytes per second. */
  readonly algbw: number
  readonly busbw: number
  /** Bytes that the busiest rank has sent, per second. */
  readonly wirebw: number
  /** Elements, on all ranks and in all checked calls; undefined when none was checked. */
  readonly wrong: number | undefined
  readonly spread: Spread
  /** The time of all ranks, iteration by iteration. */
  readonly times: readonly number[]
  /** Of the means of the ranks. */
  readonly byRank: { readonly min: number; readonly max: number; readonly avg: number }
}

export interface Row {
  readonly cycle: number
  readonly bytes: number
  readonly count: number
  readonly dtype: DType
  readonly op: OperatorName | undefined
  readonly root: number
  /** As asked for. */
  readonly label: string
  readonly baseline: Baseline | undefined
  /** What has run. Of raw channels: the algorithm whose bytes they carried. */
  readonly algorithm: string
  readonly settings: Settings
  readonly r: number | undefined
  readonly steps: number
  readonly bytesSent: number
  /** Of raw channels none. */
  readonly predictedSeconds: number | undefined
  readonly iterations: number
  readonly aggregate: number
  readonly outOfPlace: Sample
  readonly inPlace: Sample | undefined
  /** Time of each baseline over the time of this row, both out of place, medians of the same run: above 1 this row is faster. */
  readonly ratios: Partial<Readonly<Record<Baseline, number>>>
}

export interface BenchEnd {
  readonly seconds: number
  readonly rows: number
  readonly wrong: number
  /** Mean of the bus bandwidths of all rows that are no baselines, bytes per second; out of place and in place. */
  readonly averageBusbw: number
}

export type BenchEvent =
  | { readonly kind: 'start'; readonly start: BenchStart }
  /** The `done`-th of `total` timed iterations of a size. */
  | {
      readonly kind: 'progress'
      readonly bytes: number
      readonly done: number
      readonly total: number
      /** Of the whole benchmark: sizes that are done, of all sizes of all cycles. */
      readonly sizesDone: number
      readonly sizes: number
    }
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'trace'; readonly label: string; readonly bytes: number; readonly op: TracedOp }
  | { readonly kind: 'end'; readonly end: BenchEnd }
