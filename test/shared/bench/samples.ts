/** Events of a small benchmark with round numbers, as the formats get them. */
import type { BenchEvent, BenchStart, Row, Sample } from '../../../shared/bench/events.ts'
import { type BenchRequest, completePlan } from '../../../shared/bench/plan.ts'
import { bandwidthsOf } from '../../../shared/bench/rows.ts'
import { spreadOf } from '../../../shared/bench/stats.ts'
import { guessModel } from '../../../shared/cost/fit.ts'

export function startOf(request: BenchRequest = {}): BenchStart {
  const rank = { kind: 'node', agent: 'Node 20', tick: 1e-7, paths: { direct: 1 } }
  return {
    plan: completePlan({ maxBytes: 1024, ...request }),
    epoch: 2,
    ranks: [
      { ...rank, name: 'Ada' },
      { ...rank, name: 'Bo' },
    ],
    model: guessModel(2),
    cases: 2,
  }
}

export function sampleOf(milliseconds: readonly number[], bytes: number, wrong?: number): Sample {
  const times = milliseconds.map((ms) => ms / 1e3)
  const spread = spreadOf(times)
  return {
    seconds: spread.p50,
    ...bandwidthsOf('allreduce', 2, bytes, bytes, spread.p50),
    wrong,
    spread,
    times,
    byRank: { min: spread.min, max: spread.max, avg: spread.avg },
  }
}

export function rowOf(changes: Partial<Row> = {}): Row {
  const bytes = changes.bytes ?? 1_000_000
  return {
    cycle: 0,
    bytes,
    count: bytes / 4,
    dtype: 'f32',
    op: 'sum',
    root: -1,
    label: 'auto',
    baseline: undefined,
    algorithm: 'butterfly',
    settings: { r: 1, group: 'cyclic' },
    r: 1,
    steps: 1,
    bytesSent: bytes,
    predictedSeconds: 0.008,
    iterations: 3,
    aggregate: 1,
    outOfPlace: sampleOf([9, 10, 14], bytes, 0),
    inPlace: sampleOf([19, 20, 21], bytes, 0),
    ratios: {},
    ...changes,
  }
}

export const eventsOf = (start: BenchStart, rows: readonly Row[]): BenchEvent[] => [
  { kind: 'start', start },
  ...rows.map((row): BenchEvent => ({ kind: 'row', row })),
]
