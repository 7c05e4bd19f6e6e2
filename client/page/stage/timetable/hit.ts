/** What lies under the pointer, and where the arrow keys lead: geometry only, so SVG and canvas behave alike. */
import type { Point, Stroke, TimetableLayout } from './data.ts'

export type Hit =
  | { readonly kind: 'stroke'; readonly stroke: Stroke }
  | { readonly kind: 'cell'; readonly rank: number; readonly after: number; readonly chunk: number }

function distanceToSegment([px, py]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const [dx, dy] = [bx - ax, by - ay]
  const length = dx * dx + dy * dy
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / length))
  return Math.hypot(px - ax - t * dx, py - ay - t * dy)
}

export function distanceToStroke(point: Point, stroke: Stroke): number {
  let nearest = Number.POSITIVE_INFINITY
  stroke.points.slice(1).forEach((b, i) => {
    nearest = Math.min(nearest, distanceToSegment(point, stroke.points[i] ?? b, b))
  })
  return nearest
}

/** A cell of a buffer, else the nearest stroke within `reach` px. */
export function hitAt(layout: TimetableLayout, point: Point, reach: number): Hit | undefined {
  const [x, y] = point
  const { bufferWidth, bufferHeight, chunks } = layout
  for (const box of layout.buffers)
    if (x >= box.x && x <= box.x + bufferWidth && y >= box.y - 2 && y <= box.y + bufferHeight + 2) {
      const chunk = Math.min(chunks - 1, Math.floor(((x - box.x) / bufferWidth) * chunks))
      return { kind: 'cell', rank: box.rank, after: box.after, chunk }
    }
  let best: Stroke | undefined
  let nearest = reach
  for (const stroke of layout.strokes) {
    const [first, last] = [stroke.points[0], stroke.points.at(-1)]
    if (first === undefined || last === undefined || x < first[0] - reach || x > last[0] + reach) continue
    const distance = distanceToStroke(point, stroke)
    if (distance < nearest) {
      nearest = distance
      best = stroke
    }
  }
  return best && { kind: 'stroke', stroke: best }
}

function same(a: Stroke, b: Stroke): boolean {
  return a.step === b.step && a.from === b.from && a.to === b.to
}

/**
 * The message that an arrow key leads to: left and right along the steps of one sender, up and down through the senders
 * of one step, Home and End to its first and last step.
 */
export function neighbour(
  strokes: readonly Stroke[],
  current: Stroke | undefined,
  key: string,
): Stroke | undefined {
  if (current === undefined) return strokes[0]
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const column = strokes
      .filter((stroke) => stroke.step === current.step)
      .sort((a, b) => a.from - b.from || a.to - b.to)
    const at = column.findIndex((stroke) => same(stroke, current))
    return column[at + (key === 'ArrowUp' ? -1 : 1)] ?? current
  }
  const own = strokes.filter((stroke) => stroke.from === current.from).sort((a, b) => a.step - b.step)
  if (key === 'Home') return own[0]
  if (key === 'End') return own.at(-1)
  if (key === 'ArrowLeft') return own.filter((stroke) => stroke.step < current.step).at(-1) ?? current
  if (key === 'ArrowRight') return own.find((stroke) => stroke.step > current.step) ?? current
  return current
}

/** The point at a fraction of a stroke's length. */
export function pointAlong(points: readonly Point[], fraction: number): Point {
  const lengths = points
    .slice(1)
    .map(([x, y], i) => Math.hypot(x - (points[i]?.[0] ?? x), y - (points[i]?.[1] ?? y)))
  let rest = Math.min(1, Math.max(0, fraction)) * lengths.reduce((sum, length) => sum + length, 0)
  for (let i = 0; i < lengths.length; i++) {
    const length = lengths[i] ?? 0
    const [a, b] = [points[i], points[i + 1]]
    if (a === undefined || b === undefined) break
    if (rest <= length || i === lengths.length - 1) {
      const t = length === 0 ? 0 : Math.min(1, rest / length)
      return [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
    }
    rest -= length
  }
  return points[0] ?? [0, 0]
}
