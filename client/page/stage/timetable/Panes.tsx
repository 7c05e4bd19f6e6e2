/** Header, names and buffers stay in sight while the picture scrolls between them. */
import type { JSX, RefObject } from 'preact'
import { useMemo } from 'preact/hooks'
import { Marks } from '../drawing/Marks.tsx'
import type { Mark } from '../drawing/marks.ts'
import { Body } from './Body.tsx'
import type { StageRank, TimetableLayout } from './data.ts'
import type { Layer } from './layers.ts'
import { cursorAt, cursorX } from './moment.ts'
import { headerMarks } from './paintHeader.ts'
import { cornerMarks, labelMarks } from './paintLabels.ts'
import type { Pointing } from './usePointing.ts'
import { rankWords } from './words.ts'

export interface PanesProps {
  readonly layout: TimetableLayout
  readonly layers: readonly Layer[]
  readonly ranks: readonly StageRank[]
  readonly summary: string
  readonly gutter: readonly Mark[]
  /** What changes from frame to frame. */
  readonly moving: readonly Mark[]
  readonly cursor: number | undefined
  readonly onCursor: ((cursor: number) => void) | undefined
  readonly pointing: Pointing
  /** The rank whose path is lit, and the one that was chosen. */
  readonly lit: number | undefined
  readonly chosen: number | undefined
  readonly onChoose: (rank: number | undefined) => void
  readonly onHover: (rank: number | undefined) => void
  readonly body: RefObject<HTMLDivElement | null>
}

/** What takes keys and scrolls must be reachable by keyboard. */
const focusable = { tabIndex: 0 }

export function Panes(props: PanesProps): JSX.Element {
  const { layout, layers, ranks, summary, gutter, pointing, chosen, onChoose, body } = props
  const { left, top, width, height, right } = layout

  const toggle = (rank: number) => onChoose(chosen === rank ? undefined : rank)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight'))
      onChoose(turned(chosen, event.key === 'ArrowLeft' ? -1 : 1, layout.size))
    else if (event.key === 'Enter' && pointing.stroke) toggle(pointing.stroke.from)
    else if (event.key === 'Escape') {
      pointing.clear()
      onChoose(undefined)
    } else if (!pointing.key(event.key)) return
    event.preventDefault()
    event.stopPropagation()
  }
  const rankAt = (event: MouseEvent) => {
    const rect = body.current?.getBoundingClientRect()
    const rank = rect ? Math.floor((event.clientY - rect.top - 4) / layout.rowHeight) : -1
    return rank >= 0 && rank < layout.size ? rank : undefined
  }
  const onClick = (event: MouseEvent) => {
    const onLabel = event.target instanceof Element && event.target.closest('.timetable-labels') !== null
    const rank = onLabel ? rankAt(event) : pointing.stroke?.from
    if (rank !== undefined) toggle(rank)
  }
  return (
    <section
      class="timetable-panes"
      style={{
        gridTemplateColumns: `${left}px ${width}px ${right}px`,
        gridTemplateRows: `${top}px ${height}px`,
      }}
      aria-label="Messages; arrow keys move from message to message, Enter lights the path of the sender"
      {...focusable}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onBlur={pointing.clear}
    >
      <Fixed
        className="timetable-corner"
        width={left}
        height={top}
        marks={useMemo(() => cornerMarks(layout), [layout])}
      />
      <Header {...props} />
      <div class="timetable-gutter-head">{right > 0 ? 'now' : ''}</div>
      <svg
        class="timetable-labels"
        width={left}
        height={height}
        role="img"
        aria-label={ranks.map((_, rank) => rankWords(ranks, rank)).join(', ')}
        onPointerMove={(event) => props.onHover(rankAt(event))}
        onPointerLeave={() => props.onHover(undefined)}
      >
        {useMemo(
          () => (
            <Marks marks={labelMarks(layout, ranks, props.lit)} />
          ),
          [layout, ranks, props.lit],
        )}
      </svg>
      <div
        ref={body}
        class="timetable-picture"
        role="img"
        aria-label={summary}
        onPointerMove={(event) => pointing.move(event.clientX, event.clientY)}
        onPointerLeave={pointing.clear}
      >
        {useMemo(
          () => (
            <Body layers={layers} layout={layout} />
          ),
          [layers, layout],
        )}
        <svg class="timetable-overlay" width={width} height={height} aria-hidden="true">
          {props.cursor !== undefined && <CursorLine x={cursorX(layout, props.cursor)} height={height} />}
          <Marks marks={props.moving} />
        </svg>
      </div>
      <Fixed className="timetable-gutter" width={right} height={height} marks={gutter} />
    </section>
  )
}

function turned(chosen: number | undefined, by: number, size: number): number {
  return chosen === undefined ? 0 : (chosen + by + size) % size
}

function CursorLine({ x, height }: { x: number; height: number }): JSX.Element {
  return <line class="timetable-cursor" x1={x} x2={x} y1={0} y2={height} />
}

function Fixed(props: {
  readonly className: string
  readonly width: number
  readonly height: number
  readonly marks: readonly Mark[]
}): JSX.Element {
  const { className, width, height, marks } = props
  return useMemo(
    () => (
      <svg class={className} width={width} height={height} aria-hidden="true">
        <Marks marks={marks} />
      </svg>
    ),
    [className, width, height, marks],
  )
}

/** Steps or seconds; dragging in it moves the cursor. */
function Header({ layout, cursor, onCursor }: PanesProps): JSX.Element {
  const { width, top, mode } = layout
  const drag = (event: PointerEvent) => {
    if (event.buttons !== 1 || !onCursor) return
    const rect = (event.currentTarget as Element).getBoundingClientRect()
    const at = cursorAt(layout, event.clientX - rect.left)
    onCursor(mode === 'steps' ? Math.round(at) : at)
  }
  return (
    <svg
      class={onCursor ? 'timetable-header timetable-header-live' : 'timetable-header'}
      width={width}
      height={top}
      aria-hidden="true"
      onPointerDown={drag}
      onPointerMove={drag}
    >
      {useMemo(
        () => (
          <Marks marks={headerMarks(layout)} />
        ),
        [layout],
      )}
      {cursor !== undefined && (
        <path
          class="timetable-flag"
          transform={`translate(${cursorX(layout, cursor)} ${top})`}
          d="M0 0L-5 -8L5 -8z"
        />
      )}
    </svg>
  )
}
