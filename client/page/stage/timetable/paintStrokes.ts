/** Messages, stations and what is missing, as marks. */
import { hatchPath, line, linePath, type Mark, round } from '../drawing/marks.ts'
import { hues, rankDisc } from '../drawing/rankDisc.ts'
import type { StageRank, Stroke, TimetableLayout } from './data.ts'

/** A stroke with its casing, so that crossings read as over and under: solid for reduce, a double line for copy. */
export function strokeMarks(stroke: Stroke, hue: number, layout: TimetableLayout, strong = false): Mark[] {
  const d = linePath(stroke.points)
  const paint = `rank-${hue % hues}`
  const width = round(stroke.line + (strong ? 1.5 : 0))
  const marks: Mark[] = []
  const cased = layout.rowHeight > 16 * layout.scale
  // Where columns are narrow a broad casing would hide what runs beneath.
  const casing = gapOf(stroke) > 44 * layout.scale ? 2.5 : 1.2
  const outer = stroke.kind === 'copy' ? Math.max(2.7, width + 1.6) : width
  if (cased)
    marks.push({ kind: 'path', d, fill: 'none', stroke: 'ground', line: round(outer + casing), round: true })
  marks.push({ kind: 'path', d, fill: 'none', stroke: paint, line: round(outer), round: true })
  if (stroke.kind === 'copy')
    marks.push({ kind: 'path', d, fill: 'none', stroke: 'ground', line: round(Math.max(1, outer - 2.6)) })
  const start = stroke.points[0]
  if (layout.mode === 'time' && start && layout.tagRadius > 0)
    marks.push({ kind: 'circle', x: round(start[0]), y: start[1], r: 2.5 * layout.scale, fill: paint })
  return marks
}

function gapOf({ points }: Stroke): number {
  return (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0)
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

/** Hatch on the line of a station that waits. */
export function waitingMarks(layout: TimetableLayout, y: number, x: number, width: number): Mark[] {
  const height = Math.min(12 * layout.scale, layout.rowHeight * 0.5)
  const top = y - height / 2
  return [
    { kind: 'rect', x, y: top, width, height, fill: 'ground', stroke: 'warn', line: 1 },
    { kind: 'path', d: hatchPath(x, top, width, height, 5), fill: 'none', stroke: 'warn', line: 1 },
  ]
}
