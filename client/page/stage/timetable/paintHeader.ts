/** The header of the timetable: phases, steps, what a message carries, the time axis. */
import { line, type Mark, round, type TextMark, textWidth } from '../drawing/marks.ts'
import { formatBytes, formatTick } from '../format.ts'
import type { Column, TimetableLayout } from './data.ts'

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
  const names = { reduce: ['reduce'], copy: ['copy'], ghost: [`${steps} removed`, 'removed', `−${steps}`] }
  const size = 12.5 * scale
  const paint = look === 'ghost' ? 'ink-3' : 'ink-2'
  const fits = (name: string, room: number) => textWidth(name, size) + 10 * scale <= room
  const text = names[look].find((name) => fits(name, x1 - x0)) ?? ''
  const word = (words: string, x: number, anchor: 'middle' | 'end'): Mark => ({
    kind: 'text',
    x: round(x),
    y: round(y + size * 0.33),
    text: words,
    size,
    fill: paint,
    anchor,
  })
  // A removed step is narrow: its name may stand out to the left, over the buffers, where the header is empty.
  if (look === 'ghost' && text !== names.ghost[0]) {
    const long = names.ghost.find((name) => fits(name, x1 - x0 + 40 * scale)) ?? ''
    return [word(long, x1 - 4 * scale, 'end')]
  }
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
  const rules = {
    reduce: () => rule(0, 3 * scale),
    copy: () => [...rule(-2, 1), ...rule(2, 1)],
    ghost: () => rule(0, 1, [4, 4]),
  }
  return [...rules[look](), ...(text === '' ? [] : [word(text, middle, 'middle')])]
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
    const room = column.x1 - column.x0 + (layout.buffers.length > 0 ? layout.bufferWidth * 0.7 : 0)
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
