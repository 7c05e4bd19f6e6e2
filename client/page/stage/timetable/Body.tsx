/** The strokes and buffers of a timetable: SVG elements while there are few, a canvas when there are many. */
import type { JSX } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { drawMark } from '../drawing/canvas.ts'
import { Marks } from '../drawing/Marks.tsx'
import type { Mark } from '../drawing/marks.ts'
import { readPalette, useThemeChanges } from '../drawing/useBox.ts'
import type { StageRank, Stroke, TimetableLayout } from './data.ts'
import type { Holdings } from './flow.ts'
import { bufferMarks, ghostMarks, stationMarks, strokeMarks, tagMarks, tickMark } from './paint.ts'

/** Marks that are drawn together at one opacity. */
export interface Layer {
  readonly marks: readonly Mark[]
  readonly opacity: number
  /** Changes when the picture of the layer does: it pulses once then. */
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

function isIn(focus: Focus, stroke: Stroke): boolean {
  if (focus.stroke !== undefined) return focus.stroke === stroke
  return focus.rank === undefined || stroke.from === focus.rank || stroke.to === focus.rank
}

/** From back to front. `begun` tells which messages have left, `done` how many steps each rank has behind it. */
export function bodyLayers(
  { layout, ranks, holdings }: Scene,
  focus: Focus,
  begun: (stroke: Stroke) => boolean,
  done: readonly number[],
): Layer[] {
  const hue = (rank: number) => ranks[rank]?.hue ?? rank
  const faded = focus.rank !== undefined || focus.stroke !== undefined
  const opacity = (stroke: Stroke) =>
    faded && !isIn(focus, stroke)
      ? focus.stroke
        ? 0.25
        : 0.12
      : begun(stroke) || (faded && isIn(focus, stroke))
        ? 1
        : 0.34
  const strokes = [...layout.strokes].sort((a, b) => opacity(a) - opacity(b))
  return [
    { marks: [...ghostMarks(layout), ...stationMarks(layout, ranks)], opacity: 1 },
    ...strokes.map((stroke) => ({
      marks: strokeMarks(stroke, hue(stroke.from), layout, focus.stroke === stroke),
      opacity: opacity(stroke),
    })),
    ...strokes.map((stroke) => ({
      marks: tagMarks(stroke, hue(stroke.from), layout),
      opacity: opacity(stroke),
    })),
    ...layout.buffers.map((box) => {
      const at = holdings[box.after]
      const reached = box.after <= (done[box.rank] ?? 0)
      const aside = focus.rank !== undefined && focus.rank !== box.rank
      return {
        marks: at === undefined ? [] : bufferMarks(layout, box, at, ranks),
        opacity: aside ? 0.35 : reached ? 1 : 0.3,
        pulse: box.after > 0 && box.after === done[box.rank],
      }
    }),
    ...finalTicks({ layout, ranks, holdings }, done),
  ]
}

function finalTicks({ layout, holdings }: Scene, done: readonly number[]): Layer[] {
  const last = holdings.at(-1)
  if (last === undefined || layout.right > 0) return []
  const lastBuffer = layout.buffers.at(-1)?.x ?? 0
  const marks = layout.rows.flatMap((y, rank) =>
    isFull(last, layout, rank) && (done[rank] ?? 0) >= layout.steps
      ? [tickMark(lastBuffer + layout.bufferWidth + 6 * layout.scale, y, layout.scale)]
      : [],
  )
  return [{ marks, opacity: 1 }]
}

export function isFull(
  holdings: Holdings,
  layout: Pick<TimetableLayout, 'size' | 'chunks'>,
  rank: number,
): boolean {
  for (let chunk = 0; chunk < layout.chunks; chunk++)
    if (holdings.count(rank, chunk) < layout.size) return false
  return true
}

export function isHeavy(layout: TimetableLayout): boolean {
  return layout.strokes.length * 3 + layout.buffers.length * 4 > 2000
}

export function SvgBody({
  layers,
  layout,
}: {
  layers: readonly Layer[]
  layout: TimetableLayout
}): JSX.Element {
  return (
    <svg class="timetable-body" width={layout.width} height={layout.height} aria-hidden="true">
      {layers.map(({ marks, opacity, pulse }) => (
        <g opacity={opacity} class={pulse ? 'timetable-pulse' : ''}>
          <Marks marks={marks} />
        </g>
      ))}
    </svg>
  )
}

/** A canvas of more pixels than this is refused by some browsers. */
const mostPixels = 16e6

export function CanvasBody({
  layers,
  layout,
}: {
  layers: readonly Layer[]
  layout: TimetableLayout
}): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null)
  const theme = useThemeChanges()
  const { width, height } = layout
  const density = useMemo(
    () => Math.min(devicePixelRatio || 1, Math.sqrt(mostPixels / Math.max(1, width * height))),
    [width, height],
  )
  useLayoutEffect(() => {
    const element = canvas.current
    const context = element?.getContext('2d')
    if (!element || !context) return
    const palette = readPalette(element.parentElement ?? element)
    context.setTransform(density, 0, 0, density, 0, 0)
    context.clearRect(0, 0, width, height)
    for (const { marks, opacity } of layers)
      for (const mark of marks) drawMark(context, mark, palette, opacity)
  }, [layers, density, width, height, theme])
  return (
    <canvas
      ref={canvas}
      class="timetable-body"
      width={Math.round(width * density)}
      height={Math.round(height * density)}
      style={{ width: `${width}px`, height: `${height}px` }}
    />
  )
}
