/** The strokes and buffers of a timetable: SVG elements while there are few, a canvas when there are many. */
import type { JSX } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { drawMark } from '../drawing/canvas.ts'
import { Marks } from '../drawing/Marks.tsx'
import { readPalette, useThemeChanges } from '../drawing/useBox.ts'
import type { TimetableLayout } from './data.ts'
import type { Layer } from './layers.ts'

interface BodyProps {
  readonly layers: readonly Layer[]
  readonly layout: TimetableLayout
}

/** Marks from which on a canvas draws. */
const most = 2000

export function Body({ layers, layout }: BodyProps): JSX.Element {
  const count = layers.reduce((sum, layer) => sum + layer.marks.length, 0)
  return count > most ? (
    <CanvasBody layers={layers} layout={layout} />
  ) : (
    <SvgBody layers={layers} layout={layout} />
  )
}

function SvgBody({ layers, layout }: BodyProps): JSX.Element {
  return (
    <svg class="timetable-body" width={layout.width} height={layout.height} aria-hidden="true">
      {layers.map(({ key, marks, opacity, pulse }) => (
        <g key={key} opacity={opacity} class={pulse ? 'timetable-pulse' : ''}>
          <Marks marks={marks} />
        </g>
      ))}
    </svg>
  )
}

/** A canvas of more pixels than this is refused by some browsers. */
const mostPixels = 16e6

function CanvasBody({ layers, layout }: BodyProps): JSX.Element {
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
