/** Turns the layout of a timetable into marks. */
import {
  boxPath,
  fitText,
  hatchPath,
  line,
  linePath,
  type Mark,
  round,
  type TextMark,
  textWidth,
} from '../drawing/marks.ts'
import { formatBytes, formatTick } from '../format.ts'
import type { Box, Column, StageRank, Stroke, TimetableLayout } from './data.ts'
import type { Holdings } from './flow.ts'

const hues = 8

/** The number of a rank on a disc of its hue; from hue 8 on with a ring, two rings, a notch. */
export function rankDisc(rank: number, hue: number, x: number, y: number, r: number): Mark[] {
  const paint = `rank-${hue % hues}`
  const turn = Math.floor(hue / hues) % 4
  const rings = turn === 1 ? [2] : turn === 2 ? [2, 4] : []
  const marks: Mark[] = rings.map((d) => ({
    kind: 'circle',
    x,
    y,
    r: r + d - 0.5,
    fill: 'none',
    stroke: paint,
    line: 1,
  }))
  marks.push({ kind: 'circle', x, y, r: rings.length > 0 ? r - 0.5 : r, fill: paint })
  if (turn === 3)
    marks.push({ kind: 'rect', x: x - 1.5, y: y - r - 0.5, width: 3, height: 3, fill: 'ground' })
  const text = String(rank)
  const size = text.length === 1 ? r * 1.5 : text.length === 2 ? r * 1.2 : r * 0.9
  marks.push({
    kind: 'text',
    x,
    y: round(y + size * 0.35),
    text,
    size: round(size),
    fill: `on-rank-${hue % hues}`,
    anchor: 'middle',
    mono: true,
    strong: true,
  })
  return marks
}

/** A stroke with its casing, so that crossings read as over and under: solid for reduce, a double line for copy. */
export function strokeMarks(stroke: Stroke, hue: number, layout: TimetableLayout, strong = false): Mark[] {
  const d = linePath(stroke.points)
  const paint = `rank-${hue % hues}`
  const width = round(stroke.line + (strong ? 1.5 : 0))
  const marks: Mark[] = []
  const cased = layout.rowHeight > 16 * layout.scale
  const outer = stroke.kind === 'copy' ? Math.max(2.7, width + 1.6) : width
  if (cased)
    marks.push({ kind: 'path', d, fill: 'none', stroke: 'ground', line: round(outer + 2.5), round: true })
  marks.push({ kind: 'path', d, fill: 'none', stroke: paint, line: round(outer), round: true })
  if (stroke.kind === 'copy')
    marks.push({ kind: 'path', d, fill: 'none', stroke: 'ground', line: round(Math.max(1, outer - 2.6)) })
  const start = stroke.points[0]
  if (layout.mode === 'time' && start && layout.tagRadius > 0)
    marks.push({ kind: 'circle', x: round(start[0]), y: start[1], r: 2.5 * layout.scale, fill: paint })
  return marks
}

/** The sender's number on its stroke. */
export function tagMarks(stroke: Stroke, hue: number, layout: TimetableLayout): Mark[] {
  if (stroke.tag === undefined) return []
  return rankDisc(stroke.from, hue, round(stroke.tag[0]), round(stroke.tag[1]), layout.tagRadius)
}

export function ghostMarks(layout: TimetableLayout): Mark[] {
  const columns = layout.columns.filter((column) => column.ghost)
  const time = layout.mode === 'time'
  // In real time a ghost is the prediction of a message; many of them would only be a fog.
  const shown = time && layout.ghosts.length > 300 ? [] : layout.ghosts
  return [
    ...columns.map(
      (column): Mark => ({
        kind: 'rect',
        x: column.x0 + 1,
        y: 1,
        width: column.x1 - column.x0 - 2,
        height: layout.height - 2,
        fill: 'sunk',
        stroke: 'rule',
        line: 1,
        dash: [2, 4],
      }),
    ),
    ...shown.map(
      (ghost): Mark => ({
        kind: 'path',
        d: linePath(ghost.points),
        fill: 'none',
        stroke: 'ink-3',
        line: 1,
        dash: time ? [1, 3] : [4, 4],
        opacity: layout.size > 16 ? 0.35 : 0.6,
      }),
    ),
  ]
}

/** Lines of the stations, and of the axis. */
export function stationMarks(layout: TimetableLayout, ranks: readonly StageRank[]): Mark[] {
  const { width, height, rows, mode, ticks, columns } = layout
  const marks: Mark[] = []
  if (mode === 'time')
    for (const tick of ticks) marks.push(line(tick.x, 0, tick.x, height, { stroke: 'hairline', line: 1 }))
  const rule = layout.size > 16 ? 'hairline' : 'rule'
  rows.forEach((y, rank) => {
    const here = ranks[rank]?.here ?? false
    marks.push(line(0, y, width, y, { stroke: here ? 'accent' : rule, line: here ? 1.5 : 1 }))
  })
  if (mode === 'time')
    for (const column of columns)
      marks.push(line(column.x1, 0, column.x1, height, { stroke: 'rule', line: 1, dash: [1, 3] }))
  return marks
}

/**
 * A buffer: one cell per chunk. Up to 8 ranks a cell has one sliver per contributor, at the contributor's place and in its
 * hue; above, the cell's colour counts the contributions. What was given away is pale.
 */
export function bufferMarks(
  layout: Pick<TimetableLayout, 'size' | 'chunks' | 'bufferWidth' | 'bufferHeight'>,
  box: Pick<Box, 'rank' | 'x' | 'y'>,
  holdings: Holdings,
  ranks: readonly StageRank[],
): Mark[] {
  const { size, chunks, bufferWidth: width, bufferHeight: height } = layout
  const { rank, x, y } = box
  const cell = width / chunks
  const space = cell >= 5 ? 1 : 0
  const pieces = new Map<string, string>()
  const add = (paint: string, live: boolean, path: string) => {
    const key = `${live ? 1 : 0.25} ${paint}`
    pieces.set(key, (pieces.get(key) ?? '') + path)
  }
  for (let chunk = 0; chunk < chunks; chunk++) {
    const left = x + chunk * cell
    const live = holdings.live(rank, chunk)
    if (size <= hues) {
      const sliver = height / size
      for (let contributor = 0; contributor < size; contributor++)
        if (holdings.has(rank, chunk, contributor))
          add(
            `rank-${(ranks[contributor]?.hue ?? contributor) % hues}`,
            live,
            boxPath(left + space / 2, y + contributor * sliver, cell - space, sliver),
          )
    } else {
      const count = holdings.count(rank, chunk)
      if (count > 0) add(countPaint(count, size), live, boxPath(left, y, cell, height))
    }
  }
  return [
    {
      kind: 'rect',
      x: round(x - 1.5),
      y: round(y - 1.5),
      width: round(width + 3),
      height: round(height + 3),
      radius: 1,
      fill: 'panel',
      stroke: 'rule',
      line: 1,
    },
    ...[...pieces].map(([key, d]): Mark => {
      const [opacity, paint] = key.split(' ')
      return {
        kind: 'path',
        d,
        fill: paint ?? 'ink',
        ...(opacity === '1' ? {} : { opacity: Number(opacity) }),
      }
    }),
  ]
}

/** Each doubling of the number of contributions is one step of the ramp. */
export function countPaint(count: number, size: number): string {
  const level = size < 2 ? 1 : Math.log2(Math.max(1, count)) / Math.log2(size)
  return `seq-${Math.min(5, Math.floor(level * 5 + 1e-9))}`
}

export function tickMark(x: number, y: number, scale: number): Mark {
  return {
    kind: 'path',
    d: linePath([
      [x, y],
      [x + 3.5 * scale, y + 4 * scale],
      [x + 10 * scale, y - 5 * scale],
    ]),
    fill: 'none',
    stroke: 'ok',
    line: 2 * scale,
    round: true,
  }
}

/** Names of the stations. */
export function labelMarks(layout: TimetableLayout, ranks: readonly StageRank[], chosen?: number): Mark[] {
  const { left, rows, rowHeight, scale } = layout
  const size = Math.min(14.5 * scale, rowHeight - 1)
  const r = Math.min(10.5 * scale, rowHeight * 0.42)
  const named = left >= 60 * scale
  const every = Math.max(1, Math.ceil((11 * scale) / rowHeight))
  return rows.flatMap((y, rank) => {
    const { name, hue, here } = ranks[rank] ?? { name: '', hue: rank, here: false }
    if (rank % every !== 0 && !here && rank !== chosen) return []
    const x = 20 * scale
    const marks =
      rowHeight >= 26 * scale ? rankDisc(rank, hue, x, y, r) : smallNumber(rank, hue, x, y, rowHeight, scale)
    if (here) marks.push({ kind: 'rect', x: 1, y: y - r, width: 3 * scale, height: 2 * r, fill: 'accent' })
    if (named)
      marks.push({
        kind: 'text',
        x: round(x + Math.max(r, 9) + 8 * scale),
        y: round(y + size * 0.35),
        text: fitText(name, size, left - x - Math.max(r, 9) - 10 * scale),
        size: round(size),
        fill: 'ink',
        strong: here || rank === chosen,
      })
    return marks
  })
}

function smallNumber(
  rank: number,
  hue: number,
  x: number,
  y: number,
  rowHeight: number,
  scale: number,
): Mark[] {
  const size = Math.min(12 * scale, rowHeight - 1)
  return [
    {
      kind: 'rect',
      x: x - 13 * scale,
      y: round(y - rowHeight * 0.36),
      width: 4 * scale,
      height: round(rowHeight * 0.72),
      fill: `rank-${hue % hues}`,
    },
    {
      kind: 'text',
      x: x + 8 * scale,
      y: round(y + size * 0.35),
      text: String(rank),
      size: round(size),
      fill: 'ink',
      anchor: 'end',
      mono: true,
    },
  ]
}

interface Span {
  readonly x0: number
  readonly x1: number
  readonly look: 'reduce' | 'copy' | 'ghost'
  readonly steps: number
}

/** Neighbouring columns of one kind: the header names them once, with the line that their strokes have. */
function phases(columns: readonly Column[]): Span[] {
  const spans: Span[] = []
  for (const column of columns) {
    const look = column.ghost ? 'ghost' : column.kind
    const last = spans.at(-1)
    if (last?.look === look) spans[spans.length - 1] = { ...last, x1: column.x1, steps: last.steps + 1 }
    else spans.push({ x0: column.x0, x1: column.x1, look, steps: 1 })
  }
  return spans
}

function phaseMarks({ x0, x1, look, steps }: Span, y: number, scale: number): Mark[] {
  const names = { reduce: ['reduce'], copy: ['copy'], ghost: [`${steps} removed`, `−${steps}`] }[look]
  const size = 12.5 * scale
  const room = x1 - x0
  const text = names.find((name) => textWidth(name, size) + 10 <= room) ?? ''
  const paint = look === 'ghost' ? 'ink-3' : 'ink-2'
  const half = text === '' ? 0 : textWidth(text, size) / 2 + 5 * scale
  const middle = (x0 + x1) / 2
  const pieces = [
    [x0 + 2, middle - half],
    [middle + half, x1 - 2],
  ].filter(([a = 0, b = 0]) => b - a > 1)
  const rule = (offset: number, width: number, dash?: readonly number[]): Mark[] =>
    pieces.map(([a = 0, b = 0]) =>
      line(a, y + offset, b, y + offset, { stroke: paint, line: width, ...(dash ? { dash } : {}) }),
    )
  return [
    ...(look === 'reduce'
      ? rule(0, 3 * scale)
      : look === 'copy'
        ? [...rule(-2, 1), ...rule(2, 1)]
        : rule(0, 1, [4, 4])),
    ...(text === ''
      ? []
      : [
          {
            kind: 'text' as const,
            x: round(middle),
            y: round(y + size * 0.33),
            text,
            size,
            fill: paint,
            anchor: 'middle' as const,
          },
        ]),
  ]
}

function chunkWords([fewest, most]: readonly [number, number]): readonly string[] {
  const range = fewest === most ? `${most}` : `${fewest}–${most}`
  return [`${range} ${most === 1 ? 'chunk' : 'chunks'}`, `${range} ch`, range]
}

/** Number of each step, and what its messages carry. */
export function headerMarks(layout: TimetableLayout): Mark[] {
  const { columns, top, scale, mode } = layout
  const marks: Mark[] = phases(columns).flatMap((span) => phaseMarks(span, 12 * scale, scale))
  const detailed = top > 60 * scale
  const every = Math.max(1, Math.ceil((22 * scale) / Math.max(1, narrowest(columns))))
  for (const column of columns) {
    const middle = round((column.x0 + column.x1) / 2)
    const text = (y: number, words: string, size: number, fill: string, strong = false): TextMark => ({
      kind: 'text',
      x: middle,
      y: round(y * scale),
      text: words,
      size: size * scale,
      fill,
      anchor: 'middle',
      mono: strong,
      strong,
    })
    if (column.ghost) continue
    if (mode === 'time' && column.x1 - column.x0 < 14 * scale) continue
    if (mode === 'steps' && column.step % every !== 0) continue
    marks.push(text(mode === 'time' ? 28 : detailed ? 36 : 35, String(column.step + 1), 14, 'ink', true))
    if (!detailed) continue
    const room = column.x1 - column.x0 + layout.bufferWidth * 0.7
    const fits = (words: readonly string[]) =>
      words.find((word) => textWidth(word, 12.5 * scale) <= room) ?? ''
    marks.push(text(53, fits(chunkWords(column.chunks)), 12.5, 'ink-2'))
    marks.push(text(69, fits([formatBytes(column.bytes)]), 12.5, 'ink-2'))
  }
  if (mode === 'time')
    for (const tick of layout.ticks) {
      marks.push(line(tick.x, top - 5, tick.x, top, { stroke: 'rule', line: 1 }))
      marks.push({
        kind: 'text',
        x: round(tick.x),
        y: round(top - 8),
        text: formatTick(tick.at),
        size: 12 * scale,
        fill: 'ink-2',
        anchor: tick.at === 0 ? 'start' : 'middle',
        mono: true,
      })
    }
  return marks
}

function narrowest(columns: readonly Column[]): number {
  return Math.min(...columns.filter((column) => !column.ghost).map((column) => column.x1 - column.x0))
}

/** Hatch on the line of a station that waits. */
export function waitingMarks(layout: TimetableLayout, rank: number, x: number): Mark[] {
  const y = layout.rows[rank] ?? 0
  const height = Math.min(12 * layout.scale, layout.rowHeight * 0.5)
  const width = 34 * layout.scale
  return [
    {
      kind: 'rect',
      x,
      y: y - height / 2,
      width,
      height,
      fill: 'ground',
      stroke: 'warn',
      line: 1,
    },
    {
      kind: 'path',
      d: hatchPath(x, y - height / 2, width, height, 5),
      fill: 'none',
      stroke: 'warn',
      line: 1,
    },
  ]
}

/** What the rows of the header mean, beside them. */
export function cornerMarks(layout: TimetableLayout): Mark[] {
  const { left, top, scale, mode, ghosts } = layout
  if (mode !== 'time' || ghosts.length === 0 || left < 70 * scale) return []
  const word = (text: string, y: number): Mark => ({
    kind: 'text',
    x: round(left - 8 * scale),
    y: round(y),
    text,
    size: 12.5 * scale,
    fill: 'ink-2',
    anchor: 'end',
  })
  return [word('predicted', 27 * scale), word('measured', top - 8)]
}
