/** Which message or cell the reader points at, by pointer or by keys, and where its text goes. */
import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import type { Stroke, TimetableLayout } from './data.ts'
import { type Hit, hitAt, neighbour, pointAlong } from './hit.ts'

export interface Pointed {
  readonly hit: Hit
  /** In the frame around the panes, px. */
  readonly x: number
  readonly y: number
}

export interface Pointing {
  readonly pointed: Pointed | undefined
  readonly stroke: Stroke | undefined
  /** By the pointer, at a place of the window. */
  move(clientX: number, clientY: number): void
  /** By a key; false when the key is not for us. */
  key(name: string): boolean
  clear(): void
}

const keys = /^(Arrow(Left|Right|Up|Down)|Home|End)$/

/** Distance to the edge of the panes at which they scroll along, px. */
const margin = 80

/** `body` is the picture between the header and the labels; it scrolls inside its parent, the panes. */
export function usePointing(layout: TimetableLayout, body: RefObject<HTMLElement | null>): Pointing {
  const [state, setState] = useState<Pointed>()
  const isStale = state?.hit.kind === 'stroke' && !layout.strokes.includes(state.hit.stroke)
  const pointed = isStale ? undefined : state
  const stroke = pointed?.hit.kind === 'stroke' ? pointed.hit.stroke : undefined

  const places = () => {
    const picture = body.current
    const panes = picture?.parentElement
    const frame = panes?.parentElement
    return picture && panes && frame
      ? { panes, inner: picture.getBoundingClientRect(), outer: frame.getBoundingClientRect() }
      : undefined
  }
  return {
    pointed,
    stroke,
    clear: () => setState(undefined),
    move(clientX, clientY) {
      const place = places()
      if (place === undefined) return
      const { inner, outer } = place
      const reach = Math.max(5, Math.min(10, layout.rowHeight * 0.3))
      const hit = hitAt(layout, [clientX - inner.left, clientY - inner.top], reach)
      setState(hit && { hit, x: clientX - outer.left, y: clientY - outer.top })
    },
    key(name) {
      const next = keys.test(name) ? neighbour(layout.strokes, stroke, name) : undefined
      const before = places()
      if (next === undefined || before === undefined) return keys.test(name)
      const [x, y] = pointAlong(next.points, 0.5)
      reveal(before.panes, layout, x + layout.left, y + layout.top)
      const { inner, outer } = places() ?? before
      setState({
        hit: { kind: 'stroke', stroke: next },
        x: inner.left - outer.left + x,
        y: inner.top - outer.top + y,
      })
      return true
    },
  }
}

function reveal(panes: HTMLElement, layout: TimetableLayout, x: number, y: number): void {
  const { scrollLeft, scrollTop, clientWidth, clientHeight } = panes
  if (x < scrollLeft + layout.left + margin || x > scrollLeft + clientWidth - layout.right - margin)
    panes.scrollLeft = x - clientWidth / 2
  if (y < scrollTop + layout.top + margin || y > scrollTop + clientHeight - margin)
    panes.scrollTop = y - clientHeight / 2
}
