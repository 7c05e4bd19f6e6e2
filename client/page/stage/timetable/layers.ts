/** The picture between header and labels, from back to front, and all panes as one picture. */
import type { Drawing, Mark } from '../drawing/marks.ts'
import { shifted } from '../drawing/svg.ts'
import type { Box, StageRank, Stroke, TimetableLayout } from './data.ts'
import type { Holdings } from './flow.ts'
import { bufferMarks, isFull, tickMark } from './paintBuffers.ts'
import { headerMarks } from './paintHeader.ts'
import { cornerMarks, labelMarks } from './paintLabels.ts'
import { ghostMarks, stationMarks, strokeMarks, tagMarks } from './paintStrokes.ts'

/** Marks that are drawn together at one opacity. */
export interface Layer {
  readonly key: string
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

/** The marks of a scene: painted once, then put together anew for each moment. */
export interface Painted extends Scene {
  readonly ground: readonly Mark[]
  readonly strokes: readonly {
    readonly stroke: Stroke
    readonly marks: readonly Mark[]
    readonly tag: readonly Mark[]
  }[]
  readonly buffers: readonly { readonly box: Box; readonly marks: readonly Mark[] }[]
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

function hueOf(ranks: readonly StageRank[], rank: number): number {
  return ranks[rank]?.hue ?? rank
}

export function paintScene(scene: Scene): Painted {
  const { layout, ranks, holdings } = scene
  return {
    ...scene,
    ground: [...ghostMarks(layout), ...stationMarks(layout, ranks)],
    strokes: layout.strokes.map((stroke) => ({
      stroke,
      marks: strokeMarks(stroke, hueOf(ranks, stroke.from), layout),
      tag: tagMarks(stroke, hueOf(ranks, stroke.from), layout),
    })),
    buffers: layout.buffers.map((box) => {
      const at = holdings[box.after]
      return { box, marks: at === undefined ? [] : bufferMarks(layout, box, at, ranks) }
    }),
  }
}

export function bodyLayers(painted: Painted, focus: Focus, moment: Moment): Layer[] {
  const { layout, ranks } = painted
  const drawn = painted.strokes
    .map(({ stroke, marks, tag }) => ({
      key: `${stroke.step} ${stroke.from} ${stroke.to}`,
      marks: focus.stroke === stroke ? strokeMarks(stroke, hueOf(ranks, stroke.from), layout, true) : marks,
      tag,
      opacity: strokeOpacity(stroke, focus, moment),
    }))
    .sort((a, b) => a.opacity - b.opacity)
  return [
    { key: 'ground', marks: painted.ground, opacity: 1 },
    ...drawn,
    ...drawn
      .filter(({ tag }) => tag.length > 0)
      .map(({ key, tag, opacity }) => ({ key: `tag ${key}`, marks: tag, opacity })),
    ...painted.buffers.map(({ box, marks }) => {
      const done = moment.done[box.rank] ?? 0
      const elsewhere = focus.rank !== undefined && focus.rank !== box.rank
      return {
        key: `buffer ${box.rank} ${box.after}`,
        marks,
        opacity: elsewhere ? 0.35 : box.after <= done ? 1 : 0.3,
        pulse: box.after > 0 && box.after === done,
      }
    }),
    { key: 'ticks', marks: finalTicks(painted, moment), opacity: 1 },
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
