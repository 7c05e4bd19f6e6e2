/** Time against size, both on log scales: predicted curves, measured dots, the lower envelope and where it changes hands. */
import type { CurvePoint } from '../../../../shared/cost/types.ts'
import type { Picture } from '../drawing/Chart.tsx'
import type { Hit } from '../drawing/hits.ts'
import { line, linePath, type Mark, round, textWidth } from '../drawing/marks.ts'
import { binaryTicks, logarithmic, logTicks } from '../drawing/scale.ts'
import { formatBytes, formatSeconds, formatTick, plural } from '../format.ts'
import type { Measured } from './sweepLayout.ts'
import { type SizeCandidate, type Winner, winnersOf } from './winners.ts'

export type { SizeCandidate }

export interface SizeData {
  readonly candidates: readonly SizeCandidate[]
  /** Size that the controls are set to. */
  readonly bytes?: number | undefined
}

/** Moves labels apart so that each has `space` px; keeps their order. */
export function spread(positions: readonly number[], space: number, low: number, high: number): number[] {
  const order = positions.map((_, i) => i).sort((a, b) => (positions[a] ?? 0) - (positions[b] ?? 0))
  const placed = [...positions]
  let free = low
  for (const i of order) {
    placed[i] = Math.max(free, positions[i] ?? 0)
    free = (placed[i] ?? 0) + space
  }
  let limit = high
  for (const i of [...order].reverse()) {
    placed[i] = Math.min(limit, placed[i] ?? 0)
    limit = (placed[i] ?? 0) - space
  }
  return placed
}

interface Axes {
  readonly x: (bytes: number) => number
  readonly y: (seconds: number) => number
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly scale: number
}

function axesOf(data: SizeData, width: number, height: number, scale: number): Axes | undefined {
  const points = data.candidates.flatMap((candidate) => candidate.points)
  const dots = data.candidates.flatMap((candidate) => candidate.measured ?? [])
  const sizes = [...points, ...dots].map((point) => point.bytes).filter((bytes) => bytes > 0)
  const times = [
    ...points.map((point) => point.seconds),
    ...dots.flatMap((dot) => [dot.measured.low, dot.measured.high]),
  ].filter((seconds) => seconds > 0)
  if (sizes.length === 0 || times.length === 0) return undefined
  const longest = Math.max(...data.candidates.map((c) => textWidth(c.label, 12.5 * scale)))
  const [left, right] = [58 * scale, width - longest - 26 * scale]
  const [top, bottom] = [30 * scale, height - 30 * scale]
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)]
  return {
    x: logarithmic(low, high > low ? high : low * 2, left, right),
    y: logarithmic(Math.min(...times) / 1.25, Math.max(...times) * 1.25, bottom, top),
    left,
    right,
    top,
    bottom,
    scale,
  }
}

function text(
  words: string,
  x: number,
  y: number,
  fill: string,
  more: Partial<Mark & { kind: 'text' }>,
): Mark {
  return { kind: 'text', x: round(x), y: round(y), text: words, size: 12.5, fill, ...more }
}

function gridMarks(data: SizeData, axes: Axes): Mark[] {
  const { x, y, left, right, top, bottom, scale } = axes
  const points = data.candidates.flatMap((candidate) => candidate.points)
  const sizes = points.map((point) => point.bytes)
  const most = Math.max(2, Math.floor((right - left) / (62 * scale)))
  const invert = (py: number) => {
    // y is linear in the logarithm: read it back from two of its values.
    const k = (Math.log(1) - Math.log(0.1)) / (y(1) - y(0.1))
    return Math.exp(k * (py - y(1)))
  }
  return [
    ...binaryTicks(Math.min(...sizes), Math.max(...sizes), most).flatMap((tick) => [
      line(x(tick), bottom, x(tick), bottom + 5, { stroke: 'rule', line: 1 }),
      text(formatBytes(tick), x(tick), bottom + 19 * scale, 'ink-2', {
        anchor: 'middle',
        size: 12 * scale,
        mono: true,
      }),
    ]),
    ...logTicks(invert(bottom), invert(top)).flatMap((tick) => [
      line(left, y(tick), right, y(tick), { stroke: 'hairline', line: 1 }),
      text(formatTick(tick), left - 7 * scale, y(tick) + 4 * scale, 'ink-2', {
        anchor: 'end',
        size: 12 * scale,
        mono: true,
      }),
    ]),
    line(left, bottom, right, bottom, { stroke: 'rule', line: 1 }),
  ]
}

/** Bands behind the curves, and the words that name where one takes over. */
function bandMarks(winners: readonly Winner[], axes: Axes): Mark[] {
  const { x, left, right, top, bottom, scale } = axes
  return winners.flatMap((winner, i): Mark[] => {
    const [x0, x1] = [i === 0 ? left : x(winner.from), i === winners.length - 1 ? right : x(winner.to)]
    const marks: Mark[] = []
    if (i % 2 === 0)
      marks.push({
        kind: 'rect',
        x: round(x0),
        y: top - 22 * scale,
        width: round(x1 - x0),
        height: round(bottom - top + 22 * scale),
        fill: 'sunk',
      })
    if (i > 0) marks.push(line(x0, top - 22 * scale, x0, bottom, { stroke: 'ink-2', line: 1, dash: [2, 3] }))
    const from = `from ${formatBytes(Number(winner.from.toPrecision(2)))} on, ${winner.label}`
    const fits = (words: string) => textWidth(words, 12.5 * scale) + 10 * scale <= x1 - x0
    const words = (i === 0 ? [winner.label] : [from, winner.label]).find(fits) ?? ''
    marks.push(text(words, x0 + 5 * scale, top - 8 * scale, 'ink', { size: 12.5 * scale, strong: true }))
    return marks
  })
}

function envelopePath(candidates: readonly SizeCandidate[], winners: readonly Winner[], axes: Axes): string {
  const points = winners.flatMap((winner) => {
    const candidate = candidates.find((c) => c.label === winner.label)
    const inside = (candidate?.points ?? []).filter((p) => p.bytes >= winner.from && p.bytes <= winner.to)
    return inside.map((p) => [axes.x(p.bytes), axes.y(p.seconds)] as const)
  })
  return linePath(points)
}

export function layoutSizes(data: SizeData, width: number, scale = 1): Picture {
  const { candidates } = data
  const height = Math.round(Math.min(440 * scale, Math.max(280 * scale, width * 0.5)))
  const axes = axesOf(data, width, height, scale)
  if (axes === undefined) return { width, height: 0, marks: [], hits: [] }
  const { x, y, right, top, bottom } = axes
  const winners = winnersOf(candidates)
  const marks: Mark[] = [...bandMarks(winners, axes), ...gridMarks(data, axes)]
  const hits: Hit[] = []
  const ends = candidates.map((candidate) => y(candidate.points.at(-1)?.seconds ?? 1))
  const labels = spread(ends, 15 * scale, top, bottom)
  marks.push({
    kind: 'path',
    d: envelopePath(candidates, winners, axes),
    fill: 'none',
    stroke: 'ink',
    line: 5 * scale,
    opacity: 0.22,
    round: true,
  })
  candidates.forEach((candidate, i) => {
    const paint = candidate.baseline ? 'ink-3' : `rank-${i % 8}`
    const path = candidate.points.map((p) => [x(p.bytes), y(p.seconds)] as const)
    marks.push({
      kind: 'path',
      d: linePath(path),
      fill: 'none',
      stroke: paint,
      line: 1.75,
      ...(candidate.baseline ? { dash: [5, 4] } : {}),
    })
    const at = labels[i] ?? 0
    marks.push(
      line(right + 2, ends[i] ?? 0, right + 14 * scale, at, { stroke: paint, line: 1 }),
      text(candidate.label, right + 18 * scale, at + 4 * scale, 'ink', { size: 12.5 * scale }),
    )
    for (const point of candidate.points)
      hits.push({
        x: x(point.bytes),
        y: y(point.seconds),
        series: i,
        lines: sizeLines(candidate, point),
      })
  })
  candidates.forEach((candidate, i) => {
    for (const dot of candidate.measured ?? []) {
      marks.push(
        ...dotMarks(dot.measured, x(dot.bytes), y, candidate.baseline ? 'ink-3' : `rank-${i % 8}`, scale),
      )
      hits.push({
        x: x(dot.bytes),
        y: y(dot.measured.median),
        series: i,
        lines: [
          `${candidate.label} at ${formatBytes(dot.bytes)}`,
          `measured ${formatSeconds(dot.measured.median)} (median of ${dot.measured.runs})`,
          `${formatSeconds(dot.measured.low)} to ${formatSeconds(dot.measured.high)}`,
        ],
      })
    }
  })
  if (data.bytes !== undefined && data.bytes > 0)
    marks.push(
      line(x(data.bytes), top, x(data.bytes), bottom, { stroke: 'accent', line: 1.5 }),
      text(formatBytes(data.bytes), x(data.bytes) + 5 * scale, bottom - 7 * scale, 'accent', {
        size: 12.5 * scale,
        strong: true,
        halo: 'ground',
      }),
    )
  return { width, height, marks, hits }
}

function sizeLines(candidate: SizeCandidate, point: CurvePoint): string[] {
  return [
    `${candidate.label} at ${formatBytes(point.bytes)}`,
    `predicted ${formatSeconds(point.seconds)}`,
    ...(candidate.baseline ? ['for comparison, never chosen'] : []),
  ]
}

function dotMarks(
  measured: Measured,
  x: number,
  y: (seconds: number) => number,
  paint: string,
  scale: number,
): Mark[] {
  return [
    line(x, y(measured.low), x, y(measured.high), { stroke: paint, line: 1.5 }),
    {
      kind: 'circle',
      x: round(x),
      y: round(y(measured.median)),
      r: 4.5 * scale,
      fill: paint,
      stroke: 'ground',
      line: 1.5,
    },
  ]
}

export function sizeSummary({ candidates }: SizeData): string {
  const winners = winnersOf(candidates)
  const first = winners[0]
  const dots = candidates.reduce((sum, candidate) => sum + (candidate.measured?.length ?? 0), 0)
  return [
    `Time against size for ${plural(candidates.length, 'candidate')}, ${plural(dots, 'measured point')}.`,
    first ? `Predicted fastest: ${first.label} for the smallest sizes` : '',
    ...winners
      .slice(1)
      .map((winner) => `, from ${formatBytes(Number(winner.from.toPrecision(2)))} on ${winner.label}`),
    first ? '.' : '',
  ].join('')
}
