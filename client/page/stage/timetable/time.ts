/** The time axis: where each message runs in seconds, measured or predicted. */
import type { TraceMessage } from '../../../../shared/collective/types.ts'
import { linear, niceTicks } from '../drawing/scale.ts'
import type { Point, TimetableData } from './data.ts'
import type { Message } from './flow.ts'

export interface Run {
  readonly message: Message
  readonly points: readonly Point[]
}

export interface TimeColumns {
  readonly runs: readonly Run[]
  readonly ghosts: readonly Run[]
  /** Predicted (else measured) extent of each step. */
  readonly columns: readonly { readonly step: number; readonly x0: number; readonly x1: number }[]
  readonly ticks: readonly { readonly at: number; readonly x: number }[]
  readonly knots: readonly { readonly at: number; readonly x: number }[]
  readonly end: number
}

type Span = readonly [begin: number, end: number]

/** Measured spans by message, see `spanKey`. */
export type Spans = ReadonlyMap<string, Span>

export function spanKey(message: { step: number; from: number; to: number }): string {
  return `${message.step} ${message.from} ${message.to}`
}

/** Departure as the sender saw it and arrival as the receiver saw it; from one side alone where the other is not known. */
export function measuredSpans(traces: readonly (readonly TraceMessage[] | undefined)[]): Map<string, Span> {
  const spans = new Map<string, Span>()
  traces.forEach((trace, rank) => {
    for (const { step, direction, peer, begin, end } of trace ?? []) {
      const sending = direction === 'send'
      const id = spanKey({ step, from: sending ? rank : peer, to: sending ? peer : rank })
      const known = spans.get(id)
      const span: Span = known === undefined ? [begin, end] : sending ? [begin, known[1]] : [known[0], end]
      // Clocks of two hosts agree only so far: an arrival is never drawn before its departure.
      spans.set(id, [span[0], Math.max(span[0], span[1])])
    }
  })
  return spans
}

export function cumulative(seconds: readonly number[]): number[] {
  const sums = [0]
  for (const s of seconds) sums.push((sums.at(-1) ?? 0) + s)
  return sums
}

/** Undefined when neither measured nor predicted times are there. */
export function timeColumns(
  data: TimetableData,
  messages: readonly (readonly Message[])[],
  measured: Spans,
  rows: readonly number[],
  width: number,
  scale: number,
): TimeColumns | undefined {
  const boundaries = data.predicted?.length === messages.length ? cumulative(data.predicted) : undefined
  if (measured.size === 0 && boundaries === undefined) return undefined
  const end = Math.max(boundaries?.at(-1) ?? 0, ...[...measured.values()].map((span) => span[1]), 1e-6)
  const margin = 10 * scale
  const x = linear(0, end, margin, width - margin)

  const run = (message: Message, [begin, end]: Span): Run => ({
    message,
    points: [
      [x(begin), rows[message.from] ?? 0],
      [x(end), rows[message.to] ?? 0],
    ],
  })
  const predictedSpan = (step: number): Span => [boundaries?.[step] ?? 0, boundaries?.[step + 1] ?? 0]
  const predictedRuns = messages.flat().map((message) => run(message, predictedSpan(message.step)))
  const measuredRuns = messages.flat().flatMap((message) => {
    const span = measured.get(spanKey(message))
    return span === undefined ? [] : [run(message, span)]
  })
  const isMeasured = measuredRuns.length > 0
  const stepSpan = (step: number): Span => {
    if (boundaries !== undefined) return predictedSpan(step)
    const spans = (messages[step] ?? [])
      .map((message) => measured.get(spanKey(message)))
      .filter((span) => span !== undefined)
    return [Math.min(...spans.map((span) => span[0])), Math.max(...spans.map((span) => span[1]))]
  }
  return {
    runs: isMeasured ? measuredRuns : predictedRuns,
    ghosts: isMeasured && boundaries !== undefined ? predictedRuns : [],
    columns: messages
      .map((_, step) => ({ step, span: stepSpan(step) }))
      .filter(({ span }) => Number.isFinite(span[0]))
      .map(({ step, span }) => ({ step, x0: x(span[0]), x1: x(span[1]) })),
    ticks: niceTicks(0, end, Math.max(2, Math.floor(width / (90 * scale)))).map((at) => ({ at, x: x(at) })),
    knots: [
      { at: 0, x: x(0) },
      { at: end, x: x(end) },
    ],
    end,
  }
}
