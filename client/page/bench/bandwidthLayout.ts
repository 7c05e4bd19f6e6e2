/** Bus bandwidth against size, both on log scales: one line for each row of the benchmark, with the spread of its iterations. */
import { busFactor } from '../../../shared/bench/amounts.ts'
import type { Row } from '../../../shared/bench/events.ts'
import type { Collective } from '../../../shared/schedule/types.ts'
import { spread } from '../stage/charts/sizeLayout.ts'
import type { Picture } from '../stage/drawing/Chart.tsx'
import type { Hit } from '../stage/drawing/hits.ts'
import { line, linePath, type Mark, round, textWidth } from '../stage/drawing/marks.ts'
import { binaryTicks, logarithmic, logTicks } from '../stage/drawing/scale.ts'
import type { Table } from '../stage/drawing/table.ts'
import { formatBytes, formatRate, plural } from '../stage/format.ts'

interface Point {
  readonly bytes: number
  /** Bytes per second: of the median, the slowest and the fastest iteration. */
  readonly busbw: number
  readonly low: number
  readonly high: number
}

export interface Series {
  readonly label: string
  readonly isBaseline: boolean
  readonly points: readonly Point[]
}

/** Rows that have neither size nor bandwidth are none. */
export function seriesOf(rows: readonly Row[], collective: Collective, size: number): Series[] {
  const factor = busFactor(collective, size)
  const labels = [...new Set(rows.map(({ label }) => label))]
  return labels.flatMap((label): Series[] => {
    const own = rows.filter((row) => row.label === label && row.bytes > 0)
    const points = own.map(({ bytes, outOfPlace: { busbw, spread: times } }) => ({
      bytes,
      busbw,
      low: (bytes * factor) / times.max,
      high: (bytes * factor) / times.min,
    }))
    const isBaseline = own.some(({ baseline }) => baseline !== undefined)
    return points.length === 0 || factor === 0 ? [] : [{ label, isBaseline, points }]
  })
}

export function layoutBandwidth(series: readonly Series[], width: number, scale = 1): Picture {
  const points = series.flatMap((each) => each.points)
  if (points.length === 0) return { width, height: 0, marks: [], hits: [] }
  const height = Math.round(Math.min(380 * scale, Math.max(240 * scale, width * 0.42)))
  const longest = Math.max(...series.map(({ label }) => textWidth(label, 12.5 * scale)))
  const [top, bottom] = [14 * scale, height - 30 * scale]
  const sizes = points.map(({ bytes }) => bytes)
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)]
  const [low, high] = [
    Math.min(...points.map((p) => p.low)) / 1.25,
    Math.max(...points.map((p) => p.high)) * 1.25,
  ]
  const rates = logTicks(low, high)
  const left = 12 * scale + Math.max(...rates.map((tick) => textWidth(tickText(tick), 12 * scale, true)))
  const right = width - longest - 26 * scale
  const x = logarithmic(least, most > least ? most : least * 2, left, right)
  const y = logarithmic(low, high, bottom, top)
  const words = (text: string, px: number, py: number, more: Partial<Mark & { kind: 'text' }>): Mark => ({
    kind: 'text',
    x: round(px),
    y: round(py),
    text,
    size: 12 * scale,
    fill: 'ink-2',
    ...more,
  })
  const marks: Mark[] = [
    ...binaryTicks(least, most, Math.max(2, Math.floor((right - left) / (62 * scale)))).flatMap((tick) => [
      line(x(tick), bottom, x(tick), bottom + 5, { stroke: 'rule', line: 1 }),
      words(formatBytes(tick), x(tick), bottom + 19 * scale, { anchor: 'middle', mono: true }),
    ]),
    ...rates.flatMap((tick) => [
      line(left, y(tick), right, y(tick), { stroke: 'hairline', line: 1 }),
      words(tickText(tick), left - 7 * scale, y(tick) + 4 * scale, { anchor: 'end', mono: true }),
    ]),
    line(left, bottom, right, bottom, { stroke: 'rule', line: 1 }),
  ]
  const hits: Hit[] = []
  const ends = series.map((each) => y(each.points.at(-1)!.busbw))
  const places = spread(ends, 15 * scale, top, bottom)
  for (const [i, each] of series.entries()) {
    const paint = each.isBaseline ? 'ink-3' : `rank-${i % 8}`
    const at = each.points.map((point) => [x(point.bytes), y(point.busbw)] as const)
    marks.push({
      kind: 'path',
      d: linePath(at),
      fill: 'none',
      stroke: paint,
      line: 1.75,
      ...(each.isBaseline && { dash: [5, 4] }),
    })
    for (const point of each.points) {
      const px = x(point.bytes)
      marks.push(line(px, y(point.low), px, y(point.high), { stroke: paint, line: 1 }), {
        kind: 'circle',
        x: round(px),
        y: round(y(point.busbw)),
        r: 3.5 * scale,
        fill: paint,
        stroke: 'ground',
        line: 1.5,
      })
      hits.push({ x: px, y: y(point.busbw), series: i, lines: hitLines(each.label, point) })
    }
    const [endX] = at.at(-1)!
    marks.push(
      line(endX + 5 * scale, ends[i]!, right + 14 * scale, places[i]!, { stroke: paint, line: 1 }),
      words(each.label, right + 18 * scale, places[i]! + 4 * scale, { fill: 'ink', size: 12.5 * scale }),
    )
  }
  return { width, height, marks, hits }
}

/** Without digits that say nothing. */
const tickText = (rate: number) => `${Number((rate / 1e6).toPrecision(2))} MB/s`

const hitLines = (label: string, { bytes, busbw, low, high }: Point): string[] => [
  `${label} at ${formatBytes(bytes)}`,
  `${formatRate(busbw)} (median)`,
  `${formatRate(low)} to ${formatRate(high)}`,
]

export function bandwidthTable(series: readonly Series[]): Table {
  const rate = (value: string | number) => formatRate(Number(value))
  return {
    caption: 'Bus bandwidth by size',
    columns: [
      { title: 'Algorithm', csv: 'algorithm' },
      { title: 'Size', csv: 'bytes', numeric: true, show: (value) => formatBytes(Number(value)) },
      { title: 'Bus bandwidth', csv: 'busbw_bytes_per_s', numeric: true, show: rate },
      { title: 'Slowest', csv: 'busbw_low_bytes_per_s', numeric: true, show: rate },
      { title: 'Fastest', csv: 'busbw_high_bytes_per_s', numeric: true, show: rate },
    ],
    rows: series.flatMap(({ label, points }) =>
      points.map(({ bytes, busbw, low, high }) => [label, bytes, busbw, low, high]),
    ),
  }
}

export function bandwidthSummary(series: readonly Series[]): string {
  const best = series
    .flatMap(({ label, points }) => points.map((point) => ({ label, ...point })))
    .reduce<(Point & { label: string }) | undefined>((a, b) => (a && a.busbw >= b.busbw ? a : b), undefined)
  const counts = `Bus bandwidth against size for ${plural(series.length, 'algorithm')}.`
  return best
    ? `${counts} Most: ${formatRate(best.busbw)} by ${best.label} at ${formatBytes(best.bytes)}.`
    : counts
}
