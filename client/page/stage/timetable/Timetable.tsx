/**
 * The timetable of a schedule: stations are ranks, strokes are messages, in steps or in real time. What it shows follows
 * from its props alone; it animates nothing by itself.
 */
import type { JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { Figure } from '../drawing/Figure.tsx'
import { Tooltip } from '../drawing/Tooltip.tsx'
import { useTextScale, useWidth } from '../drawing/useBox.ts'
import type { StageRank, TimetableData, TimetableLayout, TimetableSize } from './data.ts'
import { holdingsOf } from './flow.ts'
import { bodyLayers, type Focus, paintScene, wholeDrawing } from './layers.ts'
import { layoutTimetable } from './layout.ts'
import { labelWidth } from './measures.ts'
import { type RankProgress, stepsDone, travelledByCursor, travelledByProgress } from './moment.ts'
import { gutterMarks, trainMarks, type Waiter, waiterMarks } from './moving.ts'
import { Panes } from './Panes.tsx'
import { isFull } from './paintBuffers.ts'
import { titleOf } from './title.ts'
import { usePointing } from './usePointing.ts'
import { hitLines, stepWords, timetableSummary, timetableTable } from './words.ts'
import './timetable.css'

export interface TimetableProps extends TimetableData {
  readonly ranks: readonly StageRank[]
  /** Position in steps (steps mode) or seconds (time mode). Absent: the end, without a line. */
  readonly cursor?: number | undefined
  readonly onCursor?: ((cursor: number) => void) | undefined
  /** Per rank, in a live run: then this and not the cursor says what has happened. */
  readonly progress?: readonly (RankProgress | undefined)[] | undefined
  readonly waiting?: readonly Waiter[] | undefined
  /** Nothing was sent: the picture is labelled so. */
  readonly simulated: boolean
  readonly title?: string | undefined
  /** The rank whose path is lit. Without `onSelect` the timetable keeps it itself. */
  readonly selected?: number | undefined
  readonly onSelect?: ((rank: number | undefined) => void) | undefined
  readonly height?: number | undefined
  readonly detail?: TimetableSize['detail']
}

export function Timetable(props: TimetableProps): JSX.Element {
  const { schedule, bytes, mode, ghostOf, messages, predicted, ranks, progress, simulated, height } = props
  const [attach, width] = useWidth<HTMLDivElement>()
  const scale = useTextScale()
  const [spacious, setSpacious] = useState(false)
  const detail = spacious ? 'buffers' : props.detail
  const layout = useMemo(
    () =>
      layoutTimetable(
        { schedule, bytes, mode, ghostOf, messages, predicted },
        { width, height, scale, detail, left: labelWidth(ranks, width, scale) },
      ),
    [schedule, bytes, mode, ghostOf, messages, predicted, ranks, width, height, detail, scale],
  )
  const holdings = holdingsOf(schedule)
  const body = useRef<HTMLDivElement>(null)
  const pointing = usePointing(layout, body)
  const [hovered, setHovered] = useState<number>()
  const [ownChoice, setOwnChoice] = useState<number>()
  const chosen = props.selected ?? (props.onSelect ? undefined : ownChoice)
  const select = props.onSelect ?? setOwnChoice

  const cursor = props.cursor ?? layout.end
  const travelled = progress ? travelledByProgress(progress) : travelledByCursor(layout, cursor)
  const done = stepsDone(layout, cursor, progress)
  const focus: Focus = { rank: hovered ?? chosen, stroke: pointing.stroke }
  // The picture changes when a message leaves or a step ends, not with every frame.
  const left = progress ? travelled : travelledByCursor(layout, coarse(layout, cursor))
  const begun = layout.strokes.filter((stroke) => left(stroke) > 0)
  const moment = `${done.join()} ${begun.length} ${progress ? begun.map((s) => `${s.from}-${s.step}`).join() : ''}`
  const painted = useMemo(() => paintScene({ layout, ranks, holdings }), [layout, ranks, holdings])
  const layers = useMemo(
    () => bodyLayers(painted, focus, { begun: new Set(begun), done }),
    [painted, focus.rank, focus.stroke, moment],
  )
  const gutter = useMemo(
    () => gutterMarks(layout, holdings, done, ranks),
    [layout, holdings, ranks, done.join()],
  )

  const title = props.title ?? titleOf(schedule)
  const summary = useMemo(() => {
    const last = holdings.at(-1)
    const full = last !== undefined && ranks.every((_, rank) => isFull(last, layout, rank))
    return timetableSummary(layout, title, ranks, full)
  }, [layout, holdings, title, ranks])
  const step = Math.min(...done)
  const { pointed } = pointing
  const lines = pointed ? hitLines(pointed.hit, ranks, holdings, predicted) : []
  const canSpread = layout.mode === 'steps' && (layout.right > 0 || spacious)
  return (
    <Figure
      title={title}
      summary={summary}
      testId="schedule"
      table={() => timetableTable(layout, ranks, predicted)}
      drawing={() => wholeDrawing(layout, layers, gutter, ranks)}
      fileName={`papilio-timetable-${schedule.algorithm}-${schedule.size}`}
      data={{ 'data-mode': layout.mode, 'data-size': layout.size, 'data-steps': layout.steps }}
      notes={simulated ? <span class="stage-stamp">Simulation</span> : undefined}
      tools={
        canSpread ? (
          <button type="button" aria-pressed={spacious} onClick={() => setSpacious(!spacious)}>
            chunks after each step
          </button>
        ) : undefined
      }
      footer={
        <p
          class="timetable-step"
          data-testid="schedule-step"
          data-step={Math.min(layout.steps, step + 1)}
          data-total={layout.steps}
        >
          {stepWords(layout, step)}
        </p>
      }
    >
      <div ref={attach} class="timetable-frame">
        {width > 0 && (
          <Panes
            layout={layout}
            layers={layers}
            ranks={ranks}
            summary={summary}
            gutter={gutter}
            moving={[
              ...waiterMarks(layout, props.waiting ?? [], done, ranks),
              ...trainMarks(layout, travelled, ranks),
            ]}
            cursor={progress === undefined ? props.cursor : undefined}
            onCursor={props.onCursor}
            pointing={pointing}
            lit={focus.rank}
            chosen={chosen}
            onChoose={select}
            onHover={setHovered}
            body={body}
          />
        )}
        {pointed && <Tooltip x={pointed.x} y={pointed.y} width={width} lines={lines} />}
        <p class="stage-hidden" aria-live="polite">
          {pointing.stroke ? lines.join('. ') : ''}
        </p>
      </div>
    </Figure>
  )
}

/** With many messages in real time one leaves in almost every frame: the picture then follows in hundredths. */
function coarse({ mode, strokes, end }: TimetableLayout, cursor: number): number {
  if (mode === 'steps' || strokes.length < 300) return cursor
  return (Math.ceil((cursor / end) * 100) / 100) * end
}
