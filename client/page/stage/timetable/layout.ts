/**
 * Lays out the timetable: stations on horizontal lines, steps or seconds from left to right, messages as strokes between
 * them, after the graphic timetable of railways (Ibry; Marey, La methode graphique, 1885).
 */
import type { Schedule } from '../../../../shared/schedule/types.ts'
import { clamp } from '../drawing/scale.ts'
import type {
  Box,
  Column,
  Point,
  StageRank,
  Stroke,
  TimetableData,
  TimetableLayout,
  TimetableSize,
} from './data.ts'
import { type Message, messageBytes, messagesOf, reduceSteps } from './flow.ts'
import { pointAlong } from './hit.ts'
import { measuredSpans, type Spans, spanKey, timeColumns } from './time.ts'

/** Width of a removed step relative to one that is left. */
const ghostShare = 0.5

/** Narrower than this the names go and the numbers stay. */
const phone = 480

function defaultRowHeight(size: number, width: number): number {
  const small = width < phone
  if (size <= 3) return small ? 60 : 72
  if (size <= 8) return small ? 44 : width >= 1500 ? 64 : 54
  if (size <= 16) return small ? 28 : 34
  if (size <= 32) return small ? 16 : 20
  return 13
}

/** Room for the names of the stations. */
export function labelWidth(ranks: readonly StageRank[], width: number, scale = 1): number {
  if (width < phone * scale) return Math.round(34 * scale)
  const longest = Math.max(0, ...ranks.map((rank) => rank.name.length))
  return Math.round(clamp(50 + longest * 8, 72, 176) * scale)
}

/** A buffer shows `chunks` cells; up to 8 ranks each cell has one sliver per contributor. */
function bufferSize(
  size: number,
  chunks: number,
  rowHeight: number,
  scale: number,
  narrow: boolean,
): readonly [number, number] {
  const cell = clamp((narrow ? 44 : 64) / chunks, 1, size <= 8 ? 9 : 4)
  const width = Math.max(size <= 8 ? 22 : 16, Math.round(cell * chunks)) * scale
  const sliver = Math.max(2, Math.floor((rowHeight * 0.64) / size))
  const height = size <= 8 ? size * Math.min(sliver, 12 * scale) : Math.max(6, rowHeight * 0.5)
  return [width, Math.min(height, rowHeight * 0.75)]
}

/** log of the share of the vector: one chunk is thinnest, the whole vector widest. */
function lineWidth(share: number, size: number, widest: number): number {
  const thinnest = Math.min(1.4, widest * 0.5)
  if (share <= 0 || size < 2) return thinnest
  return thinnest + (widest - thinnest) * clamp(1 + Math.log2(share) / Math.log2(size), 0, 1)
}

function columnFacts(messages: readonly Message[], schedule: Schedule, bytes: number) {
  const counts = messages.map((message) => message.chunks.length)
  return {
    kind: messages.some((message) => message.kind === 'reduce') ? ('reduce' as const) : ('copy' as const),
    chunks: [counts.length ? Math.min(...counts) : 0, Math.max(0, ...counts)] as const,
    bytes: Math.max(0, ...messages.map((message) => messageBytes(schedule, bytes, message))),
  }
}

/** Steps of the schedule before the removal that have no counterpart: they follow the reduction. */
export function removedSteps(data: TimetableData, messages: readonly (readonly Message[])[]) {
  const surplus = data.ghostOf ? data.ghostOf.steps - data.schedule.steps : 0
  const at = reduceSteps(messages)
  return { at, count: Math.max(0, surplus) }
}

interface Plan {
  readonly columns: readonly Column[]
  readonly bufferX: readonly number[]
  readonly width: number
}

/** Equal columns: buffer, step, buffer, step, ..., with the ghost columns where steps are missing. */
function placeColumns(
  facts: readonly Omit<Column, 'x0' | 'x1'>[],
  gap: number,
  ghostGap: number,
  bufferWidth: number,
  scale: number,
): Plan {
  const margin = 6 * scale
  let x = margin
  const columns: Column[] = []
  const bufferX = [x]
  x += bufferWidth
  for (const fact of facts) {
    const width = fact.ghost ? ghostGap : gap
    columns.push({ ...fact, x0: x, x1: x + width })
    x += width
    if (!fact.ghost) {
      bufferX.push(x)
      x += bufferWidth
    }
  }
  return { columns, bufferX, width: x + 22 * scale }
}

function strokeOf(
  message: Message,
  column: Pick<Column, 'x0' | 'x1'>,
  rows: readonly number[],
  dwell: number,
): Pick<Stroke, 'points'> {
  const y0 = rows[message.from] ?? 0
  const y1 = rows[message.to] ?? 0
  return {
    points: [
      [column.x0, y0],
      [column.x0 + dwell * 0.4, y0],
      [column.x1 - dwell, y1],
      [column.x1, y1],
    ],
  }
}

/** Measured begin and end of a message, where they are known. */
function measuredTimes(spans: Spans, message: Message): Pick<Stroke, 'begin' | 'end'> {
  const span = spans.get(spanKey(message))
  return span === undefined ? {} : { begin: span[0], end: span[1] }
}

function stepsLayout(data: TimetableData, size: TimetableSize, spans: Spans): TimetableLayout {
  const { schedule, bytes } = data
  const scale = size.scale ?? 1
  const messages = messagesOf(schedule)
  const ghostMessages = data.ghostOf ? messagesOf(data.ghostOf) : []
  const removed = removedSteps(data, messages)

  const facts = messages.map((step, i) => ({
    step: i,
    ghost: false,
    ...columnFacts(step, schedule, bytes),
  }))
  const ghostFacts = ghostMessages
    .slice(removed.at, removed.at + removed.count)
    .map((step, i) => ({ step: removed.at + i, ghost: true, ...columnFacts(step, schedule, bytes) }))
  const all = [...facts.slice(0, removed.at), ...ghostFacts, ...facts.slice(removed.at)]

  const rowHeight = rowHeightFor(schedule.size, size, scale)
  const [fullWidth, bufferHeight] = bufferSize(
    schedule.size,
    schedule.chunks,
    rowHeight,
    scale,
    size.width < phone * scale,
  )
  const available = Math.max(60, size.width - size.left)
  const steps = facts.length
  const needed = (gap: number, buffer: number, right: number) =>
    28 * scale + buffer * (steps + 1) + gap * (steps + ghostShare * ghostFacts.length) + right
  const inline =
    size.detail === 'buffers' ||
    (size.detail !== 'strokes' && needed(48 * scale, fullWidth, 0) <= available) ||
    steps === 0
  const bufferWidth = inline ? fullWidth : (schedule.size > 16 ? 4 : 8) * scale
  const right = inline ? 0 : fullWidth + 28 * scale
  const smallest = (inline ? 48 : schedule.size > 16 ? 11 : 18) * scale
  const free = available - needed(0, bufferWidth, right)
  // Half pixels: finer would blur the lines.
  const share = Math.floor((2 * free) / Math.max(1, steps + ghostShare * ghostFacts.length)) / 2
  const gap = clamp(share, smallest, 420 * scale)
  const ghostGap = gap * ghostShare
  const plan = placeColumns(all, gap, ghostGap, bufferWidth, scale)

  const rows = rowsOf(schedule.size, rowHeight)
  const widest = clamp(rowHeight * 0.11, 0.9, 5.5 * scale)
  const single = messages.every((step) => new Set(step.map((message) => message.to)).size === step.length)
  const roomy = rowHeight >= 26 * scale && gap >= 34 * scale
  const tagRadius = roomy ? 7.5 * scale : 0
  const dwell = roomy && single ? tagRadius * 2 + 6 * scale : Math.min(6 * scale, gap * 0.14)
  const toStroke = (schedule: Schedule, column: Column) => (message: Message) => {
    const { points } = strokeOf(message, column, rows, dwell)
    const share = messageBytes(schedule, 1, message)
    const y = single ? (rows[message.to] ?? 0) : (rows[message.from] ?? 0)
    const x = single ? column.x1 - tagRadius - 3 * scale : column.x0 + tagRadius + 2 * scale
    return {
      ...message,
      points,
      bytes: share * bytes,
      line: lineWidth(share, schedule.size, widest),
      ...(column.ghost ? {} : measuredTimes(spans, message)),
      ...(tagRadius > 0 && !column.ghost ? { tag: [x, y] as const } : {}),
    }
  }
  const strokes = plan.columns
    .filter((column) => !column.ghost)
    .flatMap((column) => (messages[column.step] ?? []).map(toStroke(schedule, column)))
  const ghosts = plan.columns
    .filter((column) => column.ghost)
    .flatMap((column) => (ghostMessages[column.step] ?? []).map(toStroke(schedule, column)))

  const buffers: Box[] = inline
    ? plan.bufferX.flatMap((x, after) => rows.map((y, rank) => ({ rank, after, x, y: y - bufferHeight / 2 })))
    : []
  const knots = [{ at: 0, x: (plan.bufferX[0] ?? 0) + bufferWidth / 2 }]
  for (const column of plan.columns.filter((column) => !column.ghost)) {
    // Behind ghost columns the cursor goes on from the first column that is left.
    const last = knots.at(-1)?.x ?? 0
    if (column.x0 - bufferWidth / 2 > last + 1) knots.push({ at: column.step, x: column.x0 })
    knots.push({ at: column.step + 1, x: column.x1 + bufferWidth / 2 })
  }
  return {
    mode: 'steps',
    scale,
    size: schedule.size,
    steps,
    chunks: schedule.chunks,
    width: Math.max(plan.width, 40),
    height: rows.length * rowHeight + 8 * scale,
    left: size.left,
    top: (inline || gap >= 50 * scale ? 86 : 54) * scale,
    right,
    rowHeight,
    rows,
    columns: plan.columns,
    strokes,
    ghosts,
    buffers,
    bufferWidth: fullWidth,
    bufferHeight,
    ticks: [],
    scaleKnots: knots,
    end: steps,
    tagRadius,
  }
}

function rowHeightFor(ranks: number, size: TimetableSize, scale: number): number {
  const usual = defaultRowHeight(ranks, size.width / scale) * scale
  if (size.height === undefined) return usual
  return clamp((size.height - 94 * scale) / ranks, 12 * scale, usual * 1.6)
}

function rowsOf(ranks: number, rowHeight: number): number[] {
  return Array.from({ length: ranks }, (_, rank) => 4 + rowHeight * (rank + 0.5))
}

/** Off the line of the station, where the next departure starts. */
function beforeArrival(points: readonly Point[], distance: number): Point {
  const [a, b] = [points[0] ?? [0, 0], points.at(-1) ?? [0, 0]]
  const length = Math.hypot(b[0] - a[0], b[1] - a[1])
  return pointAlong(points, length > 0 ? Math.max(0.5, 1 - distance / length) : 1)
}

function timeLayout(data: TimetableData, size: TimetableSize, spans: Spans): TimetableLayout | undefined {
  const { schedule, bytes } = data
  const scale = size.scale ?? 1
  const messages = messagesOf(schedule)
  const rowHeight = rowHeightFor(schedule.size, size, scale)
  const [bufferWidth, bufferHeight] = bufferSize(
    schedule.size,
    schedule.chunks,
    rowHeight,
    scale,
    size.width < phone * scale,
  )
  const right = bufferWidth + 28 * scale
  const width = Math.max(220 * scale, size.width - size.left - right)
  const rows = rowsOf(schedule.size, rowHeight)
  const widest = clamp(rowHeight * 0.1, 0.9, 4.5 * scale)
  const time = timeColumns(data, messages, spans, rows, width, scale)
  if (time === undefined) return undefined
  const roomy = rowHeight >= 26 * scale
  const toStroke = (run: (typeof time.runs)[number]): Stroke => {
    const share = messageBytes(schedule, 1, run.message)
    return {
      ...run.message,
      points: run.points,
      bytes: share * bytes,
      line: lineWidth(share, schedule.size, widest),
      ...measuredTimes(spans, run.message),
      ...(roomy ? { tag: beforeArrival(run.points, 15 * scale) } : {}),
    }
  }
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
    strokes: time.runs.map(toStroke),
    ghosts: time.ghosts.map(toStroke),
    buffers: [],
    bufferWidth,
    bufferHeight,
    ticks: time.ticks,
    scaleKnots: time.knots,
    end: time.end,
    tagRadius: roomy ? 6.5 * scale : 0,
  }
}

export function layoutTimetable(data: TimetableData, size: TimetableSize): TimetableLayout {
  const spans = measuredSpans(data.messages ?? [])
  return (data.mode === 'time' ? timeLayout(data, size, spans) : undefined) ?? stepsLayout(data, size, spans)
}
