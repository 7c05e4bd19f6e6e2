/**
 * A benchmark as JSON: the shape of nccl-tests' own JSON with more in it. docs/bench-result.schema.json is its schema. Times in microseconds,
 * bandwidths in 1e9 bytes per second; what is not known is null.
 */
import { latencyOf, tailBeta } from '../cost/curve.ts'
import type { NetworkModel } from '../cost/types.ts'
import type { BenchEvent, BenchRank, BenchStart, Row, Sample } from './events.ts'
import { type About, type BenchFormat, isFastEnough, modelError, operatorName, typeName } from './format.ts'
import { createTally } from './run.ts'

export interface ResultOptions extends About {
  /** As typed. Never the environment, which has secrets. */
  readonly args: readonly string[]
  /** The time of day, RFC 3339 in UTC. */
  readonly now: () => string
}

const us = (seconds: number) => Number((seconds * 1e6).toPrecision(9))
const gb = (bytesPerSecond: number) => Number((bytesPerSecond / 1e9).toPrecision(9))
const percent = (share: number) => Number((share * 100).toPrecision(6))

const sampleOf = ({ seconds, algbw, busbw, wirebw, wrong, spread, times, byRank }: Sample) => ({
  time: us(seconds),
  alg_bw: gb(algbw),
  bus_bw: gb(busbw),
  wire_bw: gb(wirebw),
  nwrong: wrong ?? null,
  per_iter: {
    min: us(spread.min),
    max: us(spread.max),
    avg: us(spread.avg),
    p50: us(spread.p50),
    p95: us(spread.p95),
    p99: us(spread.p99),
    stdev: us(spread.stdev),
    cv_pct: spread.avg > 0 ? percent(spread.stdev / spread.avg) : 0,
    times_us: times.map(us),
  },
  by_rank: { min: us(byRank.min), max: us(byRank.max), avg: us(byRank.avg) },
})

function rowOf(row: Row) {
  const error = modelError(row)
  return {
    cycle: row.cycle,
    size: row.bytes,
    count: row.count,
    type: typeName(row.dtype),
    redop: operatorName(row.op),
    root: row.root,
    label: row.label,
    baseline: row.baseline ?? null,
    schedule: { algo: row.algorithm, settings: row.settings, r: row.r ?? null, steps: row.steps },
    bytes_sent: row.bytesSent,
    predicted_us: row.predictedSeconds === undefined ? null : us(row.predictedSeconds),
    model_error_pct: error === undefined ? null : percent(error),
    actual_iterations: row.iterations,
    agg_iters: row.aggregate,
    out_of_place: sampleOf(row.outOfPlace),
    in_place: row.inPlace ? sampleOf(row.inPlace) : null,
    ratios: row.ratios,
  }
}

const deviceOf = ({ name, kind, agent, tick, paths }: BenchRank, rank: number) => ({
  rank,
  name,
  kind,
  agent,
  clock_tick_us: us(tick),
  paths,
})

function linksOf({ links }: NetworkModel) {
  return links.flatMap((row, from) =>
    row.flatMap((curve, to) =>
      curve
        ? [
            {
              from,
              to,
              alpha_us: us(latencyOf(curve)),
              beta_us_per_B: us(tailBeta(curve)),
              residual: Number(curve.residual.toPrecision(4)),
            },
          ]
        : [],
    ),
  )
}

const modelOf = (model: NetworkModel) => ({
  version: model.version,
  gamma_us_per_B: us(model.gamma),
  overhead_us: us(model.overhead),
  host_beta_us_per_B: us(model.hostBeta),
  links: linksOf(model),
})

export function createJson({ version, args, now, minBandwidth }: ResultOptions): BenchFormat {
  const tally = createTally()
  const rows: Row[] = []
  let start: BenchStart | undefined
  let startTime = now()
  return {
    tell(event) {
      if (event.kind === 'start') {
        start = event.start
        startTime = now()
      } else if (event.kind === 'row') {
        tally.add(event.row)
        rows.push(event.row)
      }
      return []
    },
    finish(errors) {
      const { wrong, averageBusbw } = tally.end()
      const result = {
        schema: 'papilio-bench-1',
        version,
        start_time: startTime,
        end_time: now(),
        args,
        config: start?.plan ?? null,
        epoch: start?.epoch ?? null,
        devices: start?.ranks.map(deviceOf) ?? [],
        model: start ? modelOf(start.model) : null,
        results: rows.map(rowOf),
        out_of_bounds: { count: wrong, okay: wrong === 0 },
        average_bus_bandwidth: {
          bandwidth: gb(averageBusbw),
          okay: minBandwidth === undefined ? null : isFastEnough(averageBusbw, minBandwidth),
        },
        errors,
      }
      return JSON.stringify(result, undefined, 2).split('\n')
    },
  }
}

/** One object for each event, as it happens: `{"event", "t_us", "data"}`, t_us since the start. */
export function createJsonLines({ version, args, now }: ResultOptions, seconds: () => number): BenchFormat {
  const begin = seconds()
  const tally = createTally()
  const line = (event: string, data: unknown) => JSON.stringify({ event, t_us: us(seconds() - begin), data })
  const linesOf = (event: BenchEvent): string[] => {
    switch (event.kind) {
      case 'start': {
        const { plan, epoch, ranks, model } = event.start
        const { links, ...hosts } = modelOf(model)
        return [
          line('start', {
            version,
            args,
            time: now(),
            config: plan,
            epoch,
            devices: ranks.map(deviceOf),
            model: hosts,
          }),
          ...links.map((link) => line('link', link)),
        ]
      }
      case 'progress': {
        const { bytes, done, total, sizesDone, sizes } = event
        return [line('step', { size: bytes, done, total, sizes_done: sizesDone, sizes })]
      }
      case 'row':
        tally.add(event.row)
        return [line('size', rowOf(event.row))]
      default:
        return []
    }
  }
  return {
    tell: linesOf,
    finish(errors) {
      const { rows, wrong, averageBusbw } = tally.end()
      return [
        line('end', { time: now(), rows, nwrong: wrong, average_bus_bandwidth: gb(averageBusbw), errors }),
      ]
    },
  }
}
