/** Who has samples of what: of the lesson that goes on, or of the one that the settings would begin. */
import type { JSX } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import { Chart } from '../../stage/drawing/Chart.tsx'
import type { Table } from '../../stage/drawing/table.ts'
import { splitRows } from '../shown.ts'
import { layoutSplit, type SplitData, splitSummary } from '../splitLayout.ts'
import { companions, useLearn } from '../store.ts'

function splitTable({ rows, classes }: SplitData): Table {
  return {
    caption: 'Samples of each class, by peer',
    columns: [
      { title: 'Peer', csv: 'peer' },
      ...classes.map((name) => ({ title: name, csv: `class_${name}`, numeric: true })),
    ],
    rows: rows.map(({ name, counts }) => [name, ...counts]),
  }
}

export function Split(): JSX.Element {
  const { state, hands, classes, lesson, run, problem } = useLearn()
  const found = hands.value
  const isPlan = run.value?.lesson !== lesson.value
  const { run: current, members } = state.value.learning
  const data = useMemo((): SplitData | undefined => {
    if (!found) return undefined
    const planned = members.length < 2 ? 1 + companions : 0
    return { rows: splitRows(state.peek(), found, isPlan, planned), classes: classes.value }
  }, [found, isPlan, members, current?.pupils, classes.value])
  const draw = useCallback(
    (width: number, scale: number) => layoutSplit(data ?? { rows: [], classes: [] }, width, scale),
    [data],
  )
  const summary = useMemo(() => (data ? splitSummary(data) : ''), [data])
  return (
    <section class="learn-split" aria-label="Samples">
      {data ? (
        <Chart
          title="Who has samples of what"
          summary={summary}
          testId="split"
          items="Samples"
          fileName="papilio-samples"
          table={() => splitTable(data)}
          draw={draw}
          notes={<span class="stage-note">a square: samples of that class</span>}
        />
      ) : (
        <p class="note">
          {problem.value === undefined
            ? 'The samples are being fetched.'
            : `The samples could not be fetched: ${problem.value}`}
        </p>
      )}
    </section>
  )
}
