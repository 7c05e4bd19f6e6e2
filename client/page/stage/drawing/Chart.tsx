/** A chart that is one picture: draws marks at the width that is there and tells what the pointed one means. */
import type { ComponentChildren, JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { Figure, type FigureProps } from './Figure.tsx'
import { type Hit, hitAtPoint, hitByKey } from './hits.ts'
import { Marks } from './Marks.tsx'
import type { Drawing, Mark } from './marks.ts'
import { Tooltip } from './Tooltip.tsx'
import { useTextScale, useWidth } from './useBox.ts'

export interface Picture extends Drawing {
  readonly hits: readonly Hit[]
}

export interface ChartProps<P extends Picture> extends Omit<FigureProps, 'drawing' | 'children'> {
  /** Lays the chart out for a width and a text size; the same function as long as the data are the same. */
  readonly draw: (width: number, scale: number) => P
  /** What changes more often than the picture. */
  readonly moving?: ((picture: P) => readonly Mark[]) | undefined
  /** What the arrow keys move over: "Messages", "Sizes". */
  readonly items: string
  readonly children?: ComponentChildren
}

/** What takes keys must be reachable by keyboard. */
const focusable = { tabIndex: 0 }

export function Chart<P extends Picture>(props: ChartProps<P>): JSX.Element {
  const { draw, moving, items, children, ...figure } = props
  const [attach, width] = useWidth<HTMLDivElement>()
  const scale = useTextScale()
  const picture = useMemo(() => draw(Math.max(width, 200), scale), [draw, width, scale])
  const [pointed, setPointed] = useState<Hit>()
  const hit = pointed && picture.hits.includes(pointed) ? pointed : undefined
  const pane = useRef<HTMLElement>(null)
  const left = pane.current?.scrollLeft ?? 0

  const onPointerMove = (event: PointerEvent) => {
    const rect = (event.currentTarget as Element).getBoundingClientRect()
    setPointed(hitAtPoint(picture.hits, event.clientX - rect.left, event.clientY - rect.top, 14))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next = event.key === 'Escape' ? undefined : hitByKey(picture.hits, hit, event.key)
    if (next === undefined && event.key !== 'Escape') return
    setPointed(next)
    if (next && pane.current) {
      const { scrollLeft, clientWidth } = pane.current
      if (next.x < scrollLeft + 20 || next.x > scrollLeft + clientWidth - 20)
        pane.current.scrollLeft = next.x - clientWidth / 2
    }
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <Figure {...figure} drawing={() => picture}>
      <div ref={attach} class="stage-frame">
        {width > 0 && (
          <section
            ref={pane}
            class="stage-pane"
            aria-label={`${items}; arrow keys move over them`}
            {...focusable}
            onKeyDown={onKeyDown}
            onBlur={() => setPointed(undefined)}
          >
            <svg
              width={picture.width}
              height={picture.height}
              role="img"
              aria-label={figure.summary}
              onPointerMove={onPointerMove}
              onPointerLeave={() => setPointed(undefined)}
            >
              <Marks marks={picture.marks} />
              {moving && <Marks marks={moving(picture)} />}
              {hit && <PointedMark hit={hit} />}
            </svg>
          </section>
        )}
        {hit && <Tooltip x={hit.x - left} y={hit.y} width={width} lines={hit.lines} />}
        <p class="stage-hidden" aria-live="polite">
          {hit ? hit.lines.join('. ') : ''}
        </p>
      </div>
      {children}
    </Figure>
  )
}

function PointedMark({ hit }: { hit: Hit }): JSX.Element {
  const { x, y, width, height } = hit
  return width === undefined || height === undefined ? (
    <circle class="stage-pointed" cx={x} cy={y} r={7} />
  ) : (
    <rect class="stage-pointed" x={x - width / 2} y={y - height / 2} width={width} height={height} />
  )
}
