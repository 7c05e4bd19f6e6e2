/** The curves of a run. */
import type { JSX } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import { Chart } from '../../stage/drawing/Chart.tsx'
import type { Table } from '../../stage/drawing/table.ts'
import { type CurvesData, curvesOf, curvesSummary, layoutCurves } from '../curvesLayout.ts'
import { useLearn } from '../store.ts'

const percent = (value: string | number) => (value === '' ? '–' : `${(100 * Number(value)).toFixed(1)} %`)

function curvesTable({ series, rounds }: CurvesData): Table {
  const title = (kind: string, name: string) =>
    kind === 'averaged'
      ? 'Averaged'
      : kind === 'mean-alone'
        ? 'Alone, mean'
        : `${name}, ${kind === 'own' ? 'before averaging' : 'alone'}`
  const last = Math.max(0, ...series.flatMap(({ points }) => points.map(([round]) => round)))
  const ordered = [...series].reverse()
  return {
    caption: `Accuracy on the test samples, by round of ${rounds}`,
    columns: [
      { title: 'Round', csv: 'round', numeric: true },
      ...ordered.map(({ kind, name }) => ({
        title: title(kind, name),
        csv: `${kind}_${name}`.replace(/\W+/g, '_'),
        numeric: true,
        show: percent,
      })),
    ],
    rows: Array.from({ length: last }, (_, i) => [
      i + 1,
      ...ordered.map(({ points }) => points.find(([round]) => round === i + 1)?.[1] ?? ''),
    ]),
  }
}

export function Curves(): JSX.Element | null {
  const { run } = useLearn()
  const now = run.value
  // Progress within a round changes nothing of the curves.
  const data = useMemo(() => now && curvesOf(now), [now?.rounds, now?.averaged, now?.pupils])
  const draw = useCallback(
    (width: number, scale: number) =>
      layoutCurves(data ?? { rounds: 1, series: [], notes: [] }, width, scale),
    [data],
  )
  if (!now || !data) return null
  return (
    <section class="learn-curves" aria-label="Curves">
      <Chart
        title="Accuracy by round"
        summary={curvesSummary(data)}
        testId="curves"
        items="Rounds"
        fileName="papilio-learning"
        table={() => curvesTable(data)}
        draw={draw}
        notes={
          <span class="stage-note curve-key">
            <Key look="averaged" /> averaged <Key look="own" /> each peer before averaging{' '}
            <Key look="alone" /> each peer alone <Key look="mean-alone" /> mean of those
          </span>
        }
      />
    </section>
  )
}

/** A piece of line, as in the chart. */
function Key({ look }: { look: 'averaged' | 'own' | 'alone' | 'mean-alone' }): JSX.Element {
  const width = { averaged: 3, own: 1.25, alone: 1.25, 'mean-alone': 2.5 }[look]
  const dash = { averaged: undefined, own: undefined, alone: '3 3', 'mean-alone': '7 4' }[look]
  return (
    <svg class="key" width="22" height="8" viewBox="0 0 22 8" aria-hidden="true">
      <path
        d="M0 4H22"
        stroke="currentColor"
        stroke-width={width}
        {...(dash && { 'stroke-dasharray': dash })}
      />
    </svg>
  )
}
