/** What has happened by a moment: by the cursor in a plan, by acknowledged bytes in a live run. */
import type { Progress } from '../../../../shared/collective/types.ts'
import type { Schedule } from '../../../../shared/schedule/types.ts'
import type { Point, Stroke, TimetableLayout } from './data.ts'
import { messageBytes, messagesOf } from './flow.ts'
import { pointAlong } from './hit.ts'

/** How far a rank is: steps done, and the fraction of the bytes of its current step. */
export interface RankProgress {
  readonly step: number
  readonly fraction: number
}

/** Where a message is: 0 not yet sent .. 1 arrived. */
export type Travelled = (stroke: Stroke) => number

/** x of a cursor position. */
export function cursorX(layout: TimetableLayout, cursor: number): number {
  const knots = layout.scaleKnots
  const next = knots.findIndex((knot) => knot.at > cursor)
  if (next === -1) return knots.at(-1)?.x ?? 0
  const [a, b] = [knots[next - 1], knots[next]]
  if (a === undefined || b === undefined) return b?.x ?? 0
  return a.x + ((cursor - a.at) / (b.at - a.at)) * (b.x - a.x)
}

/** The cursor position at an x of the body: for dragging the cursor. */
export function cursorAt(layout: TimetableLayout, x: number): number {
  const knots = layout.scaleKnots
  const next = knots.findIndex((knot) => knot.x > x)
  if (next === -1) return layout.end
  const [a, b] = [knots[next - 1], knots[next]]
  if (a === undefined || b === undefined) return 0
  return a.at + ((x - a.x) / (b.x - a.x)) * (b.at - a.at)
}

export function travelledByCursor(layout: TimetableLayout, cursor: number): Travelled {
  if (layout.mode === 'steps') return (stroke) => Math.min(1, Math.max(0, cursor - stroke.step))
  const x = cursorX(layout, cursor)
  return ({ points }) => {
    const [x0, x1] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0]
    return x1 > x0 ? Math.min(1, Math.max(0, (x - x0) / (x1 - x0))) : x >= x1 ? 1 : 0
  }
}

/** In a live run a message moves only by what its sender has got acknowledged. */
export function travelledByProgress(progress: readonly (RankProgress | undefined)[]): Travelled {
  return ({ from, step }) => {
    const sender = progress[from]
    if (sender === undefined || step > sender.step) return 0
    return step < sender.step ? 1 : sender.fraction
  }
}

/** Steps that each rank has behind it. */
export function stepsDone(
  layout: TimetableLayout,
  cursor: number,
  progress?: readonly (RankProgress | undefined)[],
): number[] {
  const ranks = Array.from({ length: layout.size }, (_, rank) => rank)
  if (progress !== undefined) return ranks.map((rank) => progress[rank]?.step ?? 0)
  if (layout.mode === 'steps') return ranks.map(() => Math.floor(cursor + 1e-9))
  const travelled = travelledByCursor(layout, cursor)
  const done = ranks.map(() => layout.steps)
  const known = new Uint8Array(layout.size * layout.steps)
  for (const stroke of layout.strokes) {
    known[stroke.to * layout.steps + stroke.step] = 1
    if (travelled(stroke) < 1) done[stroke.to] = Math.min(done[stroke.to] ?? 0, stroke.step)
  }
  // Of a rank whose messages nobody told, a step counts as done when it is for everybody else.
  const x = cursorX(layout, cursor)
  const open = layout.columns.filter((column) => column.x1 > x + 1e-6)
  for (const rank of ranks)
    for (const { step } of open)
      if (known[rank * layout.steps + step] === 0) done[rank] = Math.min(done[rank] ?? 0, step)
  return done
}

/** A rank's progress from the bytes that it has sent and received: `Progress` counts both. */
export function progressOf(
  schedule: Schedule,
  bytes: number,
  rank: number,
  progress: Pick<Progress, 'step' | 'bytes'>,
): RankProgress {
  const perStep = messagesOf(schedule).map((step) =>
    step
      .filter((message) => message.from === rank || message.to === rank)
      .reduce((sum, message) => sum + messageBytes(schedule, bytes, message), 0),
  )
  const done = perStep.slice(0, progress.step).reduce((sum, n) => sum + n, 0)
  const current = perStep[progress.step] ?? 0
  const fraction = current > 0 ? Math.min(1, Math.max(0, (progress.bytes - done) / current)) : 0
  return { step: progress.step, fraction }
}

/** The wagons of a message that is under way: one per chunk, up to `most`. */
export function wagons(stroke: Stroke, fraction: number, most: number, length: number): Point[] {
  const count = Math.min(stroke.chunks.length, most)
  const total = stroke.points
    .slice(1)
    .reduce(
      (sum, [x, y], i) =>
        sum + Math.hypot(x - (stroke.points[i]?.[0] ?? x), y - (stroke.points[i]?.[1] ?? y)),
      0,
    )
  const gap = total > 0 ? Math.min(length / total, 0.6 / Math.max(1, count)) : 0
  // The train has left when its head moves and has arrived when its tail is in.
  const head = fraction * (1 + gap * (count - 1))
  return Array.from({ length: count }, (_, i) => pointAlong(stroke.points, head - i * gap))
}
