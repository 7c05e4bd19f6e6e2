/** Marks as SVG elements. */
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Look, Mark, Paint } from './marks.ts'

function color(paint: Paint | undefined): string {
  return paint === undefined || paint === 'none' ? 'none' : `var(--${paint})`
}

function lookOf(look: Look): Record<string, string | number> {
  return {
    fill: color(look.fill),
    ...(look.stroke === undefined ? {} : { stroke: color(look.stroke), 'stroke-width': look.line ?? 1 }),
    ...(look.dash === undefined ? {} : { 'stroke-dasharray': look.dash.join(' ') }),
    ...(look.round ? { 'stroke-linecap': 'round' } : {}),
    ...(look.opacity === undefined ? {} : { opacity: look.opacity }),
  }
}

function MarkElement({ mark }: { mark: Mark }): JSX.Element {
  switch (mark.kind) {
    case 'path':
      return <path d={mark.d} {...lookOf(mark)} />
    case 'rect':
      return (
        <rect
          x={mark.x}
          y={mark.y}
          width={mark.width}
          height={mark.height}
          rx={mark.radius ?? 0}
          {...lookOf(mark)}
        />
      )
    case 'circle':
      return <circle cx={mark.x} cy={mark.y} r={mark.r} {...lookOf(mark)} />
    case 'text':
      return (
        <text
          x={mark.x}
          y={mark.y}
          font-size={mark.size}
          class={mark.mono ? 'mark-mono' : 'mark-text'}
          fill={color(mark.fill)}
          {...(mark.strong ? { 'font-weight': 700 } : {})}
          {...(mark.anchor === undefined ? {} : { 'text-anchor': mark.anchor })}
          {...(mark.opacity === undefined ? {} : { opacity: mark.opacity })}
          {...(mark.turn === undefined ? {} : { transform: `rotate(${mark.turn} ${mark.x} ${mark.y})` })}
          {...(mark.halo === undefined
            ? {}
            : { stroke: color(mark.halo), 'stroke-width': 3, 'paint-order': 'stroke' })}
        >
          {mark.text}
        </text>
      )
  }
}

export function Marks({ marks }: { marks: readonly Mark[] }): JSX.Element {
  // The same marks give the same elements, which Preact then passes over.
  return useMemo(
    () => (
      <>
        {marks.map((mark) => (
          <MarkElement mark={mark} />
        ))}
      </>
    ),
    [marks],
  )
}
