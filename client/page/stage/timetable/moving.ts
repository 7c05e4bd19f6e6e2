/** What changes from frame to frame: messages under way, who waits, what every rank holds now. */
import type { Mark } from '../drawing/marks.ts'
import { hues, rankDisc } from '../drawing/rankDisc.ts'
import type { StageRank, TimetableLayout } from './data.ts'
import type { Holdings } from './flow.ts'
import { type Travelled, wagons } from './moment.ts'
import { bufferMarks, isFull, tickMark } from './paintBuffers.ts'
import { waitingMarks } from './paintStrokes.ts'

/** Messages under way, as trains with one wagon per chunk. */
export function trainMarks(
  layout: TimetableLayout,
  travelled: Travelled,
  ranks: readonly StageRank[],
): Mark[] {
  const r = Math.max(1.6, Math.min(4 * layout.scale, layout.rowHeight * 0.1))
  return layout.strokes.flatMap((stroke) => {
    const fraction = travelled(stroke)
    if (fraction <= 0 || fraction >= 1) return []
    const hue = (ranks[stroke.from]?.hue ?? stroke.from) % hues
    return wagons(stroke, fraction, layout.size > 16 ? 1 : 8, r * 2.4).map(
      ([x, y]): Mark => ({ kind: 'circle', x, y, r, fill: `rank-${hue}`, stroke: 'ground', line: 1.5 }),
    )
  })
}

/** A rank that waits, and for whom. */
export interface Waiter {
  readonly rank: number
  readonly peers: readonly number[]
}

/** A hatched box at the station where the next step would begin, with the numbers of those who are waited for. */
export function waiterMarks(
  layout: TimetableLayout,
  waiting: readonly Waiter[],
  done: readonly number[],
  ranks: readonly StageRank[],
): Mark[] {
  const r = Math.min(7.5 * layout.scale, layout.rowHeight * 0.3)
  return waiting.flatMap(({ rank, peers }) => {
    const y = layout.rows[rank]
    const column = layout.columns.find((c) => !c.ghost && c.step === (done[rank] ?? 0))
    if (y === undefined || column === undefined) return []
    const x = column.x0 + 4
    const box = 26 * layout.scale
    return [
      ...waitingMarks(layout, y, x, box),
      ...peers
        .slice(0, 3)
        .flatMap((peer, i) => rankDisc(peer, ranks[peer]?.hue ?? peer, x + box + r * (1.3 + 2.2 * i), y, r)),
    ]
  })
}

/** What every rank holds at the cursor, where there is no room between the steps. */
export function gutterMarks(
  layout: TimetableLayout,
  holdings: readonly Holdings[],
  done: readonly number[],
  ranks: readonly StageRank[],
): Mark[] {
  if (layout.right === 0) return []
  return layout.rows.flatMap((y, rank) => {
    const at = holdings[done[rank] ?? 0]
    if (at === undefined) return []
    const box = { rank, x: 5 * layout.scale, y: y - layout.bufferHeight / 2 }
    const tick = tickMark(box.x + layout.bufferWidth + 7 * layout.scale, y, layout.scale)
    return [...bufferMarks(layout, box, at, ranks), ...(isFull(at, layout, rank) ? [tick] : [])]
  })
}
