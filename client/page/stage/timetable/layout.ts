/**
 * Lays out the timetable: stations on horizontal lines, steps or seconds from left to right, messages as strokes between
 * them, after the graphic timetable of railways (Ibry; Marey, La methode graphique, 1885).
 */
import { clamp } from '../drawing/scale.ts'
import type { Point, Stroke, TimetableData, TimetableLayout, TimetableSize } from './data.ts'
import { messagesOf } from './flow.ts'
import { pointAlong } from './hit.ts'
import { bufferSizeOf, columnFacts, rowHeightOf, rowsOf, scaleOf, strokeFacts } from './measures.ts'
import { layoutSteps } from './steps.ts'
import { measuredSpans, type Run, type Spans, timeColumns } from './time.ts'

/** Off the line of the station, where the next departure starts. */
function beforeArrival(points: readonly Point[], distance: number): Point {
  const [a, b] = [points[0] ?? [0, 0], points.at(-1) ?? [0, 0]]
  const length = Math.hypot(b[0] - a[0], b[1] - a[1])
  return pointAlong(points, length > 0 ? Math.max(0.5, 1 - distance / length) : 1)
}

/** Undefined when there are no times at all. */
function layoutTime(data: TimetableData, size: TimetableSize, spans: Spans): TimetableLayout | undefined {
  const { schedule, bytes } = data
  const scale = scaleOf(size)
  const messages = messagesOf(schedule)
  const rowHeight = rowHeightOf(schedule.size, size)
  const rows = rowsOf(schedule.size, rowHeight)
  const [bufferWidth, bufferHeight] = bufferSizeOf(schedule, rowHeight, size)
  const right = bufferWidth + 28 * scale
  const width = Math.max(220 * scale, size.width - size.left - right)
  const time = timeColumns(data, messages, spans, rows, width, scale)
  if (time === undefined) return undefined
  const widest = clamp(rowHeight * 0.1, 0.9, 4.5 * scale)
  const tagRadius = rowHeight >= 26 * scale ? 6.5 * scale : 0
  const strokeOf = (run: Run): Stroke => ({
    ...strokeFacts(run.message, schedule, bytes, widest, spans),
    points: run.points,
    ...(tagRadius > 0 ? { tag: beforeArrival(run.points, 15 * scale) } : {}),
  })
  return {
    mode: 'time',
    scale,
    size: schedule.size,
    steps: messages.length,
    chunks: schedule.chunks,
    width,
    height: rows.length * rowHeight + 8 * scale,
    left: size.left,
    top: 54 * scale,
    right,
    rowHeight,
    rows,
    columns: time.columns.map((column) => ({
      ...column,
      ghost: false,
      ...columnFacts(messages[column.step] ?? [], schedule, bytes),
    })),
    strokes: time.runs.map(strokeOf),
    ghosts: time.ghosts.map(strokeOf),
    buffers: [],
    bufferWidth,
    bufferHeight,
    ticks: time.ticks,
    scaleKnots: time.knots,
    end: time.end,
    tagRadius,
  }
}

export function layoutTimetable(data: TimetableData, size: TimetableSize): TimetableLayout {
  const spans = measuredSpans(data.messages ?? [])
  return (data.mode === 'time' ? layoutTime(data, size, spans) : undefined) ?? layoutSteps(data, size, spans)
}
