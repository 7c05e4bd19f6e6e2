/** The axis of steps: equal columns with buffers between them, and ghost columns where steps were removed. */
import { clamp } from '../drawing/scale.ts'
import type { Box, Column, Point, Stroke, TimetableData, TimetableLayout, TimetableSize } from './data.ts'
import { type Message, messagesOf, reduceSteps } from './flow.ts'
import { bufferSizeOf, columnFacts, rowHeightOf, rowsOf, scaleOf, strokeFacts } from './measures.ts'
import type { Spans } from './time.ts'

/** Width of a removed step relative to one that is left. */
const ghostShare = 0.5

type Fact = Omit<Column, 'x0' | 'x1'>

/** The steps that are left, with the removed ones behind the reduction: there the distribution would have begun. */
function factsOf(data: TimetableData, messages: readonly Message[][], ghosts: readonly Message[][]): Fact[] {
  const at = reduceSteps(messages)
  const surplus = Math.max(0, ghosts.length - messages.length)
  const fact = (step: Message[], index: number, ghost: boolean): Fact => ({
    step: index,
    ghost,
    ...columnFacts(step, data.schedule, data.bytes),
  })
  const left = messages.map((step, i) => fact(step, i, false))
  const removed = ghosts.slice(at, at + surplus).map((step, i) => fact(step, at + i, true))
  return [...left.slice(0, at), ...removed, ...left.slice(at)]
}

interface Widths {
  /** Between the steps stand whole buffers, or there is only a gap and the buffers go to the right. */
  readonly inline: boolean
  readonly buffer: number
  readonly between: number
  readonly gap: number
  readonly right: number
}

/** Narrowest step beside whole buffers; up to `goodGap` the steps grow before the buffers do. */
const leastGap = 44
const goodGap = 76
/** Least width of a buffer of up to 8 ranks relative to its usual one. */
const compact = 0.64

function widthsOf(facts: readonly Fact[], ranks: number, usual: number, size: TimetableSize): Widths {
  const scale = scaleOf(size)
  const steps = facts.filter((fact) => !fact.ghost).length
  const columns = steps + ghostShare * (facts.length - steps)
  const available = Math.max(60, size.width - size.left) - 28 * scale
  // Few ranks have wide cells that may shrink before the buffers give way altogether.
  const least = ranks <= 8 ? usual * compact : usual
  const roomBeside = (gap: number) => (available - gap * scale * columns) / (steps + 1)
  const fits = steps === 0 || (size.detail !== 'strokes' && roomBeside(leastGap) >= least)
  const inline = fits || size.detail === 'buffers'
  const buffer = fits ? Math.floor(clamp(roomBeside(goodGap), least, usual)) : usual
  const between = inline ? buffer : (ranks > 16 ? 4 : 8) * scale
  const right = inline ? 0 : buffer + 28 * scale
  const smallest = (inline ? leastGap : 11) * scale
  // Half pixels: finer would blur the lines.
  const share = Math.floor((2 * (available - between * (steps + 1) - right)) / Math.max(1, columns)) / 2
  return { inline, buffer, between, right, gap: clamp(share, smallest, 420 * scale) }
}

interface Places {
  readonly columns: readonly Column[]
  /** Left edge of the buffers after 0, 1, ... steps. */
  readonly buffers: readonly number[]
  readonly knots: TimetableLayout['scaleKnots']
  readonly width: number
}

function placesOf(facts: readonly Fact[], { between, gap }: Widths, scale: number): Places {
  let x = 6 * scale
  const columns: Column[] = []
  const buffers = [x]
  const knots = [{ at: 0, x: x + between / 2 }]
  x += between
  for (const fact of facts) {
    // Behind ghost columns the cursor goes on from the first column that is left.
    if (!fact.ghost && columns.at(-1)?.ghost) knots.push({ at: fact.step, x })
    const width = fact.ghost ? gap * ghostShare : gap
    columns.push({ ...fact, x0: x, x1: x + width })
    x += width
    if (fact.ghost) continue
    buffers.push(x)
    knots.push({ at: fact.step + 1, x: x + between / 2 })
    x += between
  }
  return { columns, buffers, knots, width: Math.max(40, x + 22 * scale) }
}

export function layoutSteps(data: TimetableData, size: TimetableSize, spans: Spans): TimetableLayout {
  const { schedule, bytes } = data
  const scale = scaleOf(size)
  const messages = messagesOf(schedule)
  const ghostMessages = data.ghostOf ? messagesOf(data.ghostOf) : []
  const facts = factsOf(data, messages, ghostMessages)
  const rowHeight = rowHeightOf(schedule.size, size)
  const rows = rowsOf(schedule.size, rowHeight)
  const [usualWidth, bufferHeight] = bufferSizeOf(schedule, rowHeight, size)
  const widths = widthsOf(facts, schedule.size, usualWidth, size)
  const { inline, buffer: bufferWidth, gap, right } = widths
  const places = placesOf(facts, widths, scale)

  const widest = clamp(rowHeight * 0.11, 0.9, 5.5 * scale)
  const tagRadius = rowHeight >= 26 * scale && gap >= 34 * scale ? 7.5 * scale : 0
  // One message per receiver: its number stands at the arrival. Else the senders' numbers stand where they fan out.
  const single = messages.every((step) => new Set(step.map((message) => message.to)).size === step.length)
  const dwell = tagRadius > 0 && single ? tagRadius * 2 + 6 * scale : Math.min(6 * scale, gap * 0.14)
  const row = (rank: number) => rows[rank] ?? 0
  const pointsOf = ({ from, to }: Message, { x0, x1 }: Column): readonly Point[] => [
    [x0, row(from)],
    [x0 + dwell * 0.4, row(from)],
    [x1 - dwell, row(to)],
    [x1, row(to)],
  ]
  const tagOf = ({ from, to }: Message, { x0, x1 }: Column): Point =>
    single ? [x1 - tagRadius - 3 * scale, row(to)] : [x0 + tagRadius + 2 * scale, row(from)]
  const strokeOf = (message: Message, column: Column): Stroke => ({
    ...strokeFacts(message, schedule, bytes, widest, spans),
    points: pointsOf(message, column),
    ...(tagRadius > 0 ? { tag: tagOf(message, column) } : {}),
  })
  const ghostOf = (message: Message, column: Column): Stroke => ({
    ...strokeFacts(message, data.ghostOf ?? schedule, bytes, widest, new Map()),
    points: pointsOf(message, column),
  })
  const buffers: Box[] = places.buffers.flatMap((x, after) =>
    rows.map((y, rank) => ({ rank, after, x, y: y - bufferHeight / 2 })),
  )
  return {
    mode: 'steps',
    scale,
    size: schedule.size,
    steps: messages.length,
    chunks: schedule.chunks,
    width: places.width,
    height: rows.length * rowHeight + 8 * scale,
    left: size.left,
    top: (facts.length === 0 ? 16 : inline || gap >= 50 * scale ? 86 : 54) * scale,
    right,
    rowHeight,
    rows,
    columns: places.columns,
    strokes: places.columns.flatMap((column) =>
      column.ghost ? [] : (messages[column.step] ?? []).map((message) => strokeOf(message, column)),
    ),
    ghosts: places.columns.flatMap((column) =>
      column.ghost ? (ghostMessages[column.step] ?? []).map((message) => ghostOf(message, column)) : [],
    ),
    buffers: inline ? buffers : [],
    bufferWidth,
    bufferHeight,
    ticks: [],
    scaleKnots: places.knots,
    end: messages.length,
    tagRadius,
  }
}
