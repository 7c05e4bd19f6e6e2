/**
 * The timetable of a schedule: stations are ranks, strokes are messages, in steps or in real time. What it shows follows
 * from its props alone; it animates nothing by itself.
 */
import type { JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { Figure } from '../drawing/Figure.tsx'
import { Marks } from '../drawing/Marks.tsx'
import type { Mark } from '../drawing/marks.ts'
import { shifted } from '../drawing/svg.ts'
import { Tooltip } from '../drawing/Tooltip.tsx'
import { useTextScale, useWidth } from '../drawing/useBox.ts'
import { bodyLayers, CanvasBody, type Focus, isFull, isHeavy, SvgBody } from './Body.tsx'
import type { StageRank, TimetableData, TimetableLayout, TimetableSize } from './data.ts'
import { type Holdings, holdingsOf } from './flow.ts'
import { type Hit, hitAt, neighbour, pointAlong } from './hit.ts'
import { labelWidth, layoutTimetable } from './layout.ts'
import {
  cursorAt,
  cursorX,
  type RankProgress,
  stepsDone,
  travelledByCursor,
  travelledByProgress,
  wagons,
} from './moment.ts'
import { bufferMarks, cornerMarks, headerMarks, labelMarks, tickMark, waitingMarks } from './paint.ts'
import { titleOf } from './title.ts'
import './timetable.css'
import { cellLines, rankWords, stepWords, strokeLines, timetableSummary, timetableTable } from './words.ts'

export interface TimetableProps extends TimetableData {
  readonly ranks: readonly StageRank[]
  /** Position in steps (steps mode) or seconds (time mode). Absent: the end. */
  readonly cursor?: number | undefined
  readonly onCursor?: ((cursor: number) => void) | undefined
  /** Per rank, in a live run: then this and not the cursor says what has happened. */
  readonly progress?: readonly (RankProgress | undefined)[] | undefined
  /** Ranks that wait, and for whom. */
  readonly waiting?: readonly { readonly rank: number; readonly peers: readonly number[] }[] | undefined
  /** Nothing was sent: the picture is labelled so. */
  readonly simulated: boolean
  readonly title?: string | undefined
  readonly selected?: number | undefined
  readonly onSelect?: ((rank: number | undefined) => void) | undefined
  readonly height?: number | undefined
  readonly detail?: TimetableSize['detail']
}

interface Pointed {
  readonly hit: Hit
  readonly x: number
  readonly y: number
}

/** What takes keys and scrolls must be reachable by keyboard. */
const focusable = { tabIndex: 0 }

function useTimetable(props: TimetableProps, width: number) {
  const { schedule, bytes, mode, ghostOf, messages, predicted, ranks, height, detail } = props
  const scale = useTextScale()
  const layout = useMemo(
    () =>
      layoutTimetable(
        { schedule, bytes, mode, ghostOf, messages, predicted },
        { width, height, scale, detail, left: labelWidth(ranks, width, scale) },
      ),
    [schedule, bytes, mode, ghostOf, messages, predicted, ranks, width, height, detail, scale],
  )
  const holdings = useMemo(() => holdingsOf(schedule), [schedule])
  return { layout, holdings }
}

export function Timetable(props: TimetableProps): JSX.Element {
  const { schedule, ranks, progress, predicted, simulated, onCursor, waiting = [] } = props
  const [attach, width] = useWidth<HTMLDivElement>()
  const { layout, holdings } = useTimetable(props, width)
  const [pointed, setPointed] = useState<Pointed>()
  const [hovered, setHovered] = useState<number>()
  const [ownChoice, setOwnChoice] = useState<number>()
  const chosen = props.onSelect ? props.selected : (props.selected ?? ownChoice)
  const select = (rank: number | undefined) => (props.onSelect ?? setOwnChoice)(rank)
  const body = useRef<HTMLDivElement>(null)

  const cursor = props.cursor ?? layout.end
  const travelled = progress ? travelledByProgress(progress) : travelledByCursor(layout, cursor)
  const done = stepsDone(layout, cursor, progress)
  const step = Math.min(...done)
  const stroke = pointed?.hit.kind === 'stroke' ? pointed.hit.stroke : undefined
  const focus: Focus = { rank: hovered ?? chosen, stroke }

  // The picture changes when a message leaves or a step ends, not with every frame.
  const begun = layout.strokes.filter((s) => travelled(s) > 0)
  const state = `${begun.length} ${progress ? begun.map((s) => s.from).join() : ''} ${done.join()}`
  const layers = useMemo(() => {
    const set = new Set(begun)
    return bodyLayers({ layout, ranks, holdings }, focus, (s) => set.has(s), done)
  }, [layout, ranks, holdings, focus.rank, focus.stroke, state])

  const title = props.title ?? titleOf(schedule)
  const last = holdings.at(-1)
  const full = last !== undefined && schedule.ranks.every(({ rank }) => isFull(last, layout, rank))
  const summary = useMemo(() => timetableSummary(layout, title, ranks, full), [layout, title, ranks, full])
  const table = () => timetableTable(layout, ranks, predicted)
  const gutter = layout.right > 0 ? gutterMarks(layout, holdings, done, ranks) : []
  const waits = waiting.flatMap(({ rank }) => waitingMarks(layout, rank, columnX(layout, done[rank] ?? 0)))
  const heavy = isHeavy(layout)

  const lines =
    pointed === undefined
      ? []
      : pointed.hit.kind === 'stroke'
        ? strokeLines(pointed.hit.stroke, ranks, {
            predicted: predicted?.[pointed.hit.stroke.step],
            measured:
              pointed.hit.stroke.end === undefined || pointed.hit.stroke.begin === undefined
                ? undefined
                : pointed.hit.stroke.end - pointed.hit.stroke.begin,
          })
        : cellLines(holdings[pointed.hit.after] ?? holdings[0]!, pointed.hit.rank, pointed.hit.chunk, ranks)

  const frame = () => body.current?.closest('.timetable-frame')?.getBoundingClientRect()
  const onPointerMove = (event: PointerEvent) => {
    const rect = body.current?.getBoundingClientRect()
    const outer = frame()
    if (!rect || !outer) return
    const reach = Math.max(5, Math.min(10, layout.rowHeight * 0.3))
    const hit = hitAt(layout, [event.clientX - rect.left, event.clientY - rect.top], reach)
    setPointed(hit && { hit, x: event.clientX - outer.left, y: event.clientY - outer.top })
  }
  const point = (next: typeof stroke) => {
    const element = body.current
    const panes = element?.parentElement
    if (!next || !element || !panes) return
    const [x, y] = pointAlong(next.points, 0.5)
    const margin = 80
    const [seenX, seenY] = [x + layout.left, y + layout.top]
    if (
      seenX < panes.scrollLeft + layout.left + margin ||
      seenX > panes.scrollLeft + panes.clientWidth - layout.right - margin
    )
      panes.scrollLeft = seenX - panes.clientWidth / 2
    if (
      seenY < panes.scrollTop + layout.top + margin ||
      seenY > panes.scrollTop + panes.clientHeight - margin
    )
      panes.scrollTop = seenY - panes.clientHeight / 2
    const [rect, outer] = [element.getBoundingClientRect(), frame()]
    if (outer)
      setPointed({
        hit: { kind: 'stroke', stroke: next },
        x: rect.left - outer.left + x,
        y: rect.top - outer.top + y,
      })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
      const turn = event.key === 'ArrowLeft' ? -1 : 1
      select(chosen === undefined ? 0 : (chosen + turn + layout.size) % layout.size)
    } else if (/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key))
      point(neighbour(layout.strokes, stroke, event.key))
    else if (event.key === 'Enter' && stroke) select(chosen === stroke.from ? undefined : stroke.from)
    else if (event.key === 'Escape') {
      setPointed(undefined)
      select(undefined)
    } else return
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
    const rank = onLabel ? rankAt(event) : stroke?.from
    if (rank !== undefined) select(chosen === rank ? undefined : rank)
  }
  const drag = (event: PointerEvent) => {
    if (event.buttons !== 1 || !onCursor) return
    const rect = (event.currentTarget as Element).getBoundingClientRect()
    const at = cursorAt(layout, event.clientX - rect.left)
    onCursor(layout.mode === 'steps' ? Math.round(at) : at)
  }

  const x = cursorX(layout, cursor)
  const showCursor = props.cursor !== undefined && progress === undefined
  const now = Math.min(layout.steps, step + 1)
  return (
    <Figure
      title={title}
      summary={summary}
      testId="schedule"
      table={table}
      drawing={() => wholeDrawing(layout, layers, gutter, ranks)}
      fileName={`papilio-timetable-${schedule.algorithm}-${schedule.size}`}
      data={{ 'data-mode': layout.mode, 'data-size': layout.size, 'data-steps': layout.steps }}
      footer={
        <p class="timetable-step" data-testid="step-label" data-step={now} data-total={layout.steps}>
          {stepWords(layout, step)}
        </p>
      }
      notes={simulated ? <span class="stage-stamp">Simulation</span> : undefined}
    >
      <div ref={attach} class="timetable-frame">
        {width > 0 && (
          <section
            class="timetable-panes"
            style={{
              gridTemplateColumns: `${layout.left}px ${layout.width}px ${layout.right}px`,
              gridTemplateRows: `${layout.top}px ${layout.height}px`,
            }}
            aria-label="Messages; arrow keys move from message to message"
            {...focusable}
            onKeyDown={onKeyDown}
            onClick={onClick}
            onBlur={() => setPointed(undefined)}
          >
            <svg class="timetable-corner" width={layout.left} height={layout.top} aria-hidden="true">
              <Marks marks={cornerMarks(layout)} />
            </svg>
            <svg
              class="timetable-header"
              width={layout.width}
              height={layout.top}
              aria-hidden="true"
              onPointerDown={drag}
              onPointerMove={drag}
            >
              <Marks marks={headerMarks(layout)} />
              {showCursor && (
                <path
                  class="timetable-flag"
                  transform={`translate(${x} ${layout.top})`}
                  d="M0 0L-5 -8L5 -8z"
                />
              )}
            </svg>
            <div class="timetable-gutter-head">{layout.right > 0 ? 'now' : ''}</div>
            <svg
              class="timetable-labels"
              width={layout.left}
              height={layout.height}
              role="img"
              aria-label={ranks.map((_, rank) => rankWords(ranks, rank)).join(', ')}
              onPointerMove={(event) => setHovered(rankAt(event))}
              onPointerLeave={() => setHovered(undefined)}
            >
              <Marks marks={labelMarks(layout, ranks, focus.rank)} />
            </svg>
            <div
              ref={body}
              class="timetable-picture"
              role="img"
              aria-label={summary}
              onPointerMove={onPointerMove}
              onPointerLeave={() => setPointed(undefined)}
            >
              {heavy ? (
                <CanvasBody layers={layers} layout={layout} />
              ) : (
                <SvgBody layers={layers} layout={layout} />
              )}
              <svg class="timetable-overlay" width={layout.width} height={layout.height} aria-hidden="true">
                {showCursor && <line class="timetable-cursor" x1={x} x2={x} y1={0} y2={layout.height} />}
                <Marks marks={waits} />
                <Marks marks={trainMarks(layout, travelled, ranks)} />
              </svg>
            </div>
            <svg class="timetable-gutter" width={layout.right} height={layout.height} aria-hidden="true">
              <Marks marks={gutter} />
            </svg>
          </section>
        )}
        {pointed && <Tooltip x={pointed.x} y={pointed.y} width={width} lines={lines} />}
        <p class="stage-hidden" aria-live="polite">
          {stroke ? lines.join('. ') : ''}
        </p>
      </div>
    </Figure>
  )
}

function columnX(layout: TimetableLayout, step: number): number {
  const column = layout.columns.find((c) => !c.ghost && c.step === step)
  return (column?.x0 ?? layout.width) + 4
}

/** What every rank holds at the cursor, where there is no room between the steps. */
function gutterMarks(
  layout: TimetableLayout,
  holdings: readonly Holdings[],
  done: readonly number[],
  ranks: readonly StageRank[],
): Mark[] {
  return layout.rows.flatMap((y, rank) => {
    const at = holdings[done[rank] ?? 0]
    if (at === undefined) return []
    const box = { rank, x: 5 * layout.scale, y: y - layout.bufferHeight / 2 }
    return [
      ...bufferMarks(layout, box, at, ranks),
      ...(isFull(at, layout, rank)
        ? [tickMark(box.x + layout.bufferWidth + 7 * layout.scale, y, layout.scale)]
        : []),
    ]
  })
}

/** Messages under way, as trains with one wagon per chunk. */
function trainMarks(
  layout: TimetableLayout,
  travelled: ReturnType<typeof travelledByCursor>,
  ranks: readonly StageRank[],
): Mark[] {
  const r = Math.max(1.6, Math.min(4 * layout.scale, layout.rowHeight * 0.1))
  return layout.strokes.flatMap((stroke) => {
    const fraction = travelled(stroke)
    if (fraction <= 0 || fraction >= 1) return []
    const hue = (ranks[stroke.from]?.hue ?? stroke.from) % 8
    return wagons(stroke, fraction, layout.size > 16 ? 1 : 8, r * 2.4).map(
      ([x, y]): Mark => ({
        kind: 'circle',
        x,
        y,
        r,
        fill: `rank-${hue}`,
        stroke: 'ground',
        line: 1.5,
      }),
    )
  })
}

/** All panes in one picture. */
function wholeDrawing(
  layout: TimetableLayout,
  layers: ReturnType<typeof bodyLayers>,
  gutter: readonly Mark[],
  ranks: readonly StageRank[],
) {
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
