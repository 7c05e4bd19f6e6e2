/** For one size: every r with its predicted time, split into latency, bytes and adding, and what was measured. */
import type { Prediction } from '../../../../shared/cost/types.ts'
import type { Picture } from '../drawing/Chart.tsx'
import type { Hit } from '../drawing/hits.ts'
import { hatchPath, line, type Mark, type RectMark, round, textWidth } from '../drawing/marks.ts'
import { linear, niceTicks } from '../drawing/scale.ts'
import { formatBytes, formatSeconds, formatTick, plural } from '../format.ts'

/** Median of repeated runs with the 5th and 95th percentile, seconds. */
export interface Measured {
  readonly median: number
  readonly low: number
  readonly high: number
  readonly runs: number
}

export interface SweepRow {
  /** "r = 1", "ring". */
  readonly label: string
  readonly prediction: Prediction
  readonly measured?: Measured | undefined
  /** What auto runs. */
  readonly chosen: boolean
}

export interface SweepData {
  readonly rows: readonly SweepRow[]
  /** Length of the vector, bytes. */
  readonly bytes: number
}

type Part = 'alpha' | 'beta' | 'gamma'
const parts: readonly Part[] = ['alpha', 'beta', 'gamma']
const partWords: Readonly<Record<Part, string>> = { alpha: 'α latency', beta: 'β bytes', gamma: 'γ adding' }

function best(
  rows: readonly SweepRow[],
  seconds: (row: SweepRow) => number | undefined,
): SweepRow | undefined {
  return rows.reduce<SweepRow | undefined>((least, row) => {
    const value = seconds(row)
    if (value === undefined) return least
    const before = least && seconds(least)
    return before === undefined || value < before ? row : least
  }, undefined)
}

export function bestPredicted(rows: readonly SweepRow[]): SweepRow | undefined {
  return best(rows, (row) => row.prediction.seconds)
}

/** One alone is the best of nothing. */
export function bestMeasured(rows: readonly SweepRow[]): SweepRow | undefined {
  if (rows.filter(({ measured }) => measured).length < 2) return undefined
  return best(rows, (row) => row.measured?.median)
}

/** Latency is solid, bytes are lighter, adding is hatched: three looks that do not need colour. */
function partMarks(part: Part, x0: number, x1: number, y: number, height: number): Mark[] {
  const width = round(x1 - x0)
  if (width <= 0) return []
  const rect = (fill: string, opacity?: number): RectMark => ({
    kind: 'rect',
    x: round(x0),
    y: round(y),
    width,
    height: round(height),
    fill,
    ...(opacity === undefined ? {} : { opacity }),
  })
  if (part === 'alpha') return [rect('accent')]
  if (part === 'beta') return [rect('accent', 0.4)]
  return [
    { ...rect('none'), stroke: 'accent', line: 1 },
    { kind: 'path', d: hatchPath(x0, y, width, height, 4), fill: 'none', stroke: 'accent', line: 1 },
  ]
}

export function layoutSweep({ rows, bytes }: SweepData, width: number, scale = 1): Picture {
  const small = width < 480 * scale
  const left = (small ? 92 : 128) * scale
  const right = (small ? 14 : 128) * scale
  const top = 46 * scale
  const rowHeight = 40 * scale
  const largest = Math.max(
    1e-9,
    ...rows.map((row) => Math.max(row.prediction.seconds, row.measured?.high ?? 0)),
  )
  const x = linear(0, largest * 1.04, left, width - right)
  const height = top + rows.length * rowHeight + 6
  const text = (
    words: string,
    at: readonly [number, number],
    fill: string,
    more: { anchor?: 'start' | 'middle' | 'end'; strong?: boolean; mono?: boolean } = {},
  ): Mark => ({
    kind: 'text',
    x: round(at[0]),
    y: round(at[1]),
    text: words,
    size: 12.5 * scale,
    fill,
    ...more,
  })
  const ticks = niceTicks(0, largest, Math.max(2, (width - left - right) / (90 * scale)))
  const marks: Mark[] = ticks.flatMap((tick) => [
    line(x(tick), top - 4, x(tick), height, { stroke: 'hairline', line: 1 }),
    text(formatTick(tick), [x(tick), top - 10], 'ink-2', {
      anchor: tick === 0 ? 'start' : 'middle',
      mono: true,
    }),
  ])
  const hits: Hit[] = []
  const [predicted, measured] = [bestPredicted(rows), bestMeasured(rows)]
  rows.forEach((row, i) => {
    const middle = top + (i + 0.5) * rowHeight
    const barHeight = 16 * scale
    if (row.chosen)
      marks.push({
        kind: 'rect',
        x: 0,
        y: round(top + i * rowHeight),
        width,
        height: rowHeight,
        fill: 'sunk',
      })
    const words = bestWords(row, predicted, measured)
    const facts = [plural(row.prediction.steps, 'step'), row.chosen ? 'auto' : ''].filter(
      (word) => word !== '',
    )
    marks.push(
      text(row.label, [8 * scale, middle - 2], 'ink', { strong: row.chosen }),
      text(facts.join(' · '), [8 * scale, middle + 13 * scale], 'ink-2'),
    )
    if (words !== '') {
      // On a phone there is no room beside the bars: a tick beside the name.
      const end = Math.max(x(row.prediction.seconds), row.measured ? x(row.measured.high) : 0)
      const at = small
        ? ([textWidth(row.label, 12.5 * scale) + 16 * scale, middle - 2] as const)
        : ([end + 10 * scale, middle + 4 * scale] as const)
      marks.push(text(small ? '✓' : words, at, 'ok', { strong: true }))
    }
    let at = 0
    for (const part of parts) {
      const next = at + row.prediction.parts[part]
      marks.push(...partMarks(part, x(at), x(next), middle - barHeight / 2, barHeight))
      at = next
    }
    if (row === rows[0]) marks.push(...partLabels(row, x, top - 26 * scale, scale))
    if (row.measured) marks.push(...measuredMarks(row.measured, x, middle, scale))
    hits.push({
      x: (left + width - right) / 2,
      y: middle,
      width: width - left - right,
      height: rowHeight - 4,
      series: i,
      lines: sweepLines(row, bytes),
    })
  })
  marks.push(line(left, top, left, height, { stroke: 'rule', line: 1 }))
  return { width, height, marks, hits }
}

function bestWords(row: SweepRow, predicted: SweepRow | undefined, measured: SweepRow | undefined): string {
  if (row === predicted && row === measured) return '✓ best'
  if (row === predicted) return measured ? '✓ best predicted' : '✓ best'
  return row === measured ? '✓ best measured' : ''
}

/** The parts are named once, above the first bar; a name that would run into the next is left out. */
function partLabels(row: SweepRow, x: (seconds: number) => number, y: number, scale: number): Mark[] {
  let at = 0
  let free = Number.NEGATIVE_INFINITY
  return parts.flatMap((part): Mark[] => {
    const begin = at
    at += row.prediction.parts[part]
    const words = partWords[part]
    const place = Math.max(x(begin), free)
    if (row.prediction.parts[part] <= 0 || place > x(at) + 40 * scale) return []
    free = place + textWidth(words, 12.5 * scale) + 10 * scale
    return [
      line(x(begin) + 0.5, y + 4, x(begin) + 0.5, y + 44 * scale, { stroke: 'rule', line: 1, opacity: 0.6 }),
      { kind: 'text', x: round(place + 4), y: round(y), text: words, size: 12.5 * scale, fill: 'ink-2' },
    ]
  })
}

/** Dot at the median, whisker from the 5th to the 95th percentile. */
export function measuredMarks(
  measured: Measured,
  x: (seconds: number) => number,
  y: number,
  scale: number,
): Mark[] {
  const [low, high, middle] = [x(measured.low), x(measured.high), x(measured.median)]
  return [
    line(low, y, high, y, { stroke: 'ink', line: 1.5 }),
    line(low, y - 4 * scale, low, y + 4 * scale, { stroke: 'ink', line: 1.5 }),
    line(high, y - 4 * scale, high, y + 4 * scale, { stroke: 'ink', line: 1.5 }),
    { kind: 'circle', x: round(middle), y, r: 5 * scale, fill: 'ink', stroke: 'ground', line: 1.5 },
  ]
}

function sweepLines({ label, prediction, measured, chosen }: SweepRow, bytes: number): string[] {
  const { parts: p, seconds, steps, bytesSent } = prediction
  return [
    `${label}: ${plural(steps, 'step')}, ${formatBytes(bytesSent)} sent per rank for ${formatBytes(bytes)}`,
    `predicted ${formatSeconds(seconds)}: latency ${formatSeconds(p.alpha)}, bytes ${formatSeconds(p.beta)}, adding ${formatSeconds(p.gamma)}`,
    ...(measured
      ? [
          `measured ${formatSeconds(measured.median)} (median of ${measured.runs}, ${formatSeconds(measured.low)} to ${formatSeconds(measured.high)})`,
        ]
      : []),
    ...(chosen ? ['chosen by auto'] : []),
  ]
}

export function sweepSummary({ rows, bytes }: SweepData): string {
  if (rows.length === 0) return 'Nothing to compare.'
  const [predicted, measured] = [bestPredicted(rows), bestMeasured(rows)]
  return [
    `Time of an allreduce of ${formatBytes(bytes)} for ${plural(rows.length, 'candidate')}.`,
    predicted ? `Best predicted: ${predicted.label}, ${formatSeconds(predicted.prediction.seconds)}.` : '',
    measured ? `Best measured: ${measured.label}, ${formatSeconds(measured.measured?.median ?? 0)}.` : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}
