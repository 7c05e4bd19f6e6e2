/** The picture between header and labels, from back to front, and all panes as one picture. */
import type { Drawing, Mark } from '../drawing/marks.ts'
import { shifted } from '../drawing/svg.ts'
import type { StageRank, Stroke, TimetableLayout } from './data.ts'
import type { Holdings } from './flow.ts'
import { bufferMarks, isFull, tickMark } from './paintBuffers.ts'
import { headerMarks } from './paintHeader.ts'
import { cornerMarks, labelMarks } from './paintLabels.ts'
import { ghostMarks, stationMarks, strokeMarks, tagMarks } from './paintStrokes.ts'

/** Marks that are drawn together at one opacity. */
export interface Layer {
  readonly marks: readonly Mark[]
  readonly opacity: number
  /** The buffers that were filled last pulse once. */
  readonly pulse?: boolean
}

export interface Scene {
  readonly layout: TimetableLayout
  readonly ranks: readonly StageRank[]
  readonly holdings: readonly Holdings[]
}

/** Where a reader looks: everything, one rank's path, or one message. */
export interface Focus {
  readonly rank?: number | undefined
  readonly stroke?: Stroke | undefined
}

/** What has happened: which messages have left, and how many steps each rank has behind it. */
export interface Moment {
  readonly begun: ReadonlySet<Stroke>
  readonly done: readonly number[]
}

const planned = 0.34
const aside = 0.12
const besides = 0.25

function strokeOpacity(stroke: Stroke, focus: Focus, { begun }: Moment): number {
  if (focus.stroke !== undefined) return focus.stroke === stroke ? 1 : besides
  if (focus.rank !== undefined) return stroke.from === focus.rank || stroke.to === focus.rank ? 1 : aside
  return begun.has(stroke) ? 1 : planned
}

export function bodyLayers(scene: Scene, focus: Focus, moment: Moment): Layer[] {
  const { layout, ranks, holdings } = scene
  const drawn = layout.strokes
    .map((stroke) => ({ stroke, opacity: strokeOpacity(stroke, focus, moment) }))
    .sort((a, b) => a.opacity - b.opacity)
  const hue = (rank: number) => ranks[rank]?.hue ?? rank
  return [
    { marks: [...ghostMarks(layout), ...stationMarks(layout, ranks)], opacity: 1 },
    ...drawn.map(({ stroke, opacity }) => ({
      marks: strokeMarks(stroke, hue(stroke.from), layout, focus.stroke === stroke),
      opacity,
    })),
    ...drawn.map(({ stroke, opacity }) => ({
      marks: tagMarks(stroke, hue(stroke.from), layout),
      opacity,
    })),
    ...layout.buffers.map((box) => {
      const at = holdings[box.after]
      const done = moment.done[box.rank] ?? 0
      const elsewhere = focus.rank !== undefined && focus.rank !== box.rank
      return {
        marks: at === undefined ? [] : bufferMarks(layout, box, at, ranks),
        opacity: elsewhere ? 0.35 : box.after <= done ? 1 : 0.3,
        pulse: box.after > 0 && box.after === done,
      }
    }),
    { marks: finalTicks(scene, moment), opacity: 1 },
  ]
}

/** Ranks that hold everything when the schedule is through. */
function finalTicks({ layout, holdings }: Scene, { done }: Moment): Mark[] {
  const last = holdings.at(-1)
  const buffer = layout.buffers.at(-1)
  if (last === undefined || buffer === undefined) return []
  const x = buffer.x + layout.bufferWidth + 6 * layout.scale
  return layout.rows.flatMap((y, rank) =>
    isFull(last, layout, rank) && (done[rank] ?? 0) >= layout.steps ? [tickMark(x, y, layout.scale)] : [],
  )
}

/** All panes in one picture: for the SVG file. */
export function wholeDrawing(
  layout: TimetableLayout,
  layers: readonly Layer[],
  gutter: readonly Mark[],
  ranks: readonly StageRank[],
): Drawing {
  const { left, top, width, height, right } = layout
  const body = layers.flatMap(({ marks, opacity }) =>
    opacity === 1 ? marks : marks.map((mark) => ({ ...mark, opacity: opacity * (mark.opacity ?? 1) })),
  )
  return {
    width: left + width + right,
    height: top + height,
    marks: [
      ...cornerMarks(layout),
      ...shifted(headerMarks(layout), left, 0),
      ...shifted(labelMarks(layout, ranks), 0, top),
      ...shifted(body, left, top),
      ...shifted(gutter, left + width, top),
    ],
  }
}
