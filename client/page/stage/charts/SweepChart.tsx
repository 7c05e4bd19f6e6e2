import type { JSX } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import { Chart } from '../drawing/Chart.tsx'
import type { Table } from '../drawing/table.ts'
import { formatSeconds } from '../format.ts'
import { layoutSweep, type SweepData, sweepSummary } from './sweepLayout.ts'

export type SweepChartProps = SweepData

export function sweepTable({ rows }: SweepData): Table {
  const time = (value: string | number) => (value === '' ? '–' : formatSeconds(Number(value)))
  const column = (title: string, csv: string) => ({ title, csv, numeric: true, show: time })
  return {
    caption: 'Predicted and measured time',
    columns: [
      { title: 'Candidate', csv: 'candidate' },
      { title: 'Steps', csv: 'steps', numeric: true },
      column('Predicted', 'predicted_s'),
      column('Latency', 'alpha_s'),
      column('Bytes', 'beta_s'),
      column('Adding', 'gamma_s'),
      column('Measured', 'measured_median_s'),
      column('5 %', 'measured_p5_s'),
      column('95 %', 'measured_p95_s'),
    ],
    rows: rows.map(({ label, prediction, measured }) => [
      label,
      prediction.steps,
      prediction.seconds,
      prediction.parts.alpha,
      prediction.parts.beta,
      prediction.parts.gamma,
      measured?.median ?? '',
      measured?.low ?? '',
      measured?.high ?? '',
    ]),
  }
}

/** What removing steps costs and saves, for one size. */
export function SweepChart({ rows, bytes }: SweepChartProps): JSX.Element {
  const draw = useCallback(
    (width: number, scale: number) => layoutSweep({ rows, bytes }, width, scale),
    [rows, bytes],
  )
  const summary = useMemo(() => sweepSummary({ rows, bytes }), [rows, bytes])
  return (
    <Chart
      title="Predicted and measured, by r"
      summary={summary}
      testId="r-sweep"
      items="Candidates"
      fileName="papilio-sweep"
      table={() => sweepTable({ rows, bytes })}
      draw={draw}
      notes={<span class="stage-note">bar: predicted; dot: measured median, 5 % to 95 %</span>}
    />
  )
}
