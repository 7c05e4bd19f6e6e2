import type { JSX } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import { Chart } from '../drawing/Chart.tsx'
import type { Table } from '../drawing/table.ts'
import { formatBytes, formatSeconds } from '../format.ts'
import { rankWords } from '../timetable/words.ts'
import { type GanttData, ganttCursor, ganttSummary, layoutGantt } from './ganttLayout.ts'
import { waitsOf } from './waits.ts'

export interface GanttProps extends GanttData {
  /** The moment of playback, seconds. */
  readonly cursor?: number | undefined
}

export function ganttTable({ ranks, messages }: GanttData): Table {
  const who = (value: string | number) => (value === '' ? '' : rankWords(ranks, Number(value)))
  const time = (value: string | number) => formatSeconds(Number(value))
  return {
    caption: 'What each rank did, in order of time',
    columns: [
      { title: 'Rank', csv: 'rank', show: who },
      { title: 'Step', csv: 'step' },
      { title: 'What', csv: 'what' },
      { title: 'With', csv: 'peer', show: (value) => String(value).split(' ').map(who).join(', ') },
      { title: 'Bytes', csv: 'bytes', numeric: true, show: (v) => (v === '' ? '' : formatBytes(Number(v))) },
      { title: 'Begin', csv: 'begin_s', numeric: true, show: time },
      { title: 'End', csv: 'end_s', numeric: true, show: time },
    ],
    rows: messages.flatMap((trace, rank) =>
      [
        ...(trace ?? []).map((m) => [rank, m.step + 1, m.direction, m.peer, m.bytes, m.begin, m.end]),
        ...waitsOf(rank, trace ?? []).map((w) => [
          rank,
          w.step + 1,
          'wait',
          w.peers.join(' '),
          '',
          w.begin,
          w.end,
        ]),
      ].sort((a, b) => Number(a[5]) - Number(b[5])),
    ),
  }
}

/** Who sent, received and waited for whom, in real time; the critical path is outlined. */
export function Gantt({ ranks, messages, predicted, cursor }: GanttProps): JSX.Element {
  const draw = useCallback(
    (width: number, scale: number) => layoutGantt({ ranks, messages, predicted }, width, scale),
    [ranks, messages, predicted],
  )
  const summary = useMemo(() => ganttSummary({ ranks, messages }), [ranks, messages])
  return (
    <Chart
      title="Who waits for whom"
      summary={summary}
      testId="gantt"
      items="Messages"
      fileName="papilio-gantt"
      table={() => ganttTable({ ranks, messages })}
      draw={draw}
      moving={cursor === undefined ? undefined : (picture) => ganttCursor(picture, cursor)}
      notes={
        <span class="stage-note">
          upper bar sends, lower bar receives, hatched waits, outlined: critical path
          {predicted ? ', thin: predicted steps' : ''}
        </span>
      }
    />
  )
}
