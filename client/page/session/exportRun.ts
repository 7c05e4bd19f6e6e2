/** A run, and the whole log, as files: seconds and bytes, decimal points, RFC 4180. */
import { traceOf } from '../../../shared/collective/trace.ts'
import { contributorsOf, outcomeOf } from '../../session/outcome.ts'
import type { EventLog } from './eventLog.ts'
import { tracesOf } from './playback.ts'
import { outcomesOf } from './results.ts'
import type { RunState } from './runState.ts'

export const exportSchema = 'papilio-lab-1'

/** The run with what every rank measured and checked. */
export function runAsJson(run: RunState, context: { version: string; exportedAt: string }): string {
  const { start, members, phase, error } = run
  return JSON.stringify(
    {
      schema: exportSchema,
      version: context.version,
      exported_at: context.exportedAt,
      run: { ...start, phase, ...(error ? { error } : {}) },
      members: members.map(({ peerId, name, kind }, rank) => ({ rank, peerId, name, kind })),
      outcomes: outcomesOf(run),
      results: [...run.results].map(([variant, byPeer]) => ({ variant, ranks: [...byPeer.values()] })),
      spreads: [...run.spreads].map(([variant, spread]) => ({ variant, ...spread })),
    },
    // Files of other programs must be able to hold what JSON cannot: NaN is null.
    (_, value) => (typeof value === 'number' && !Number.isFinite(value) ? null : value),
    2,
  )
}

/** One variant of the run for Perfetto; undefined when no rank has told its messages. */
export function runAsTrace(run: RunState, variant: number, version: string): string | undefined {
  const outcome = outcomeOf(run, variant)
  const traces = outcome && tracesOf(run, variant)
  if (!outcome || !traces?.some((trace) => trace !== undefined)) return undefined
  const ranks = contributorsOf(run, variant).map(({ name }, rank) => ({ name, messages: traces[rank] }))
  const { runId, epoch, spec } = run.start
  return JSON.stringify(traceOf({ ...outcome, ranks }, { run: runId, epoch, spec, version }))
}

const columns = [
  'run_id',
  'size',
  'bytes',
  'dtype',
  'op',
  'algorithm',
  'settings',
  'steps',
  'bytes_sent',
  'repeats',
  'predicted_s',
  'median_s',
  'p95_s',
  'wrong',
  'identical',
  'largest_ulp',
] as const

/** One line for each variant of each run. */
export function runsAsCsv(runs: readonly RunState[]): string {
  const lines = runs.flatMap((run) =>
    outcomesOf(run).map((outcome): readonly (string | number)[] => [
      run.start.runId,
      run.members.length,
      run.start.spec.bytes,
      run.start.spec.dtype,
      run.start.spec.op,
      outcome.algorithm,
      Object.entries(outcome.settings)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
      outcome.steps,
      outcome.bytesSent,
      outcome.times.seconds.length,
      outcome.predictedSeconds,
      outcome.times.median,
      outcome.times.p95,
      outcome.wrong,
      outcome.identical === undefined ? '' : String(outcome.identical),
      outcome.identical ? 0 : (outcome.ulps ?? ''),
    ]),
  )
  return [columns, ...lines].map((line) => `${line.map(csvField).join(',')}\r\n`).join('')
}

function csvField(value: string | number): string {
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One event for each line; maps become lists of pairs nowhere, because events are plain data. */
export function logAsJsonLines(log: EventLog): string {
  const head = JSON.stringify({ schema: exportSchema, dropped: log.dropped })
  return [head, ...log.entries.map((entry) => JSON.stringify(entry))].map((line) => `${line}\n`).join('')
}
