import type { JSX } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import { Chart } from '../drawing/Chart.tsx'
import type { Table } from '../drawing/table.ts'
import { formatBytes, formatSeconds } from '../format.ts'
import { layoutSizes, type SizeData, sizeSummary } from './sizeLayout.ts'

export type SizeChartProps = SizeData

export function sizeTable({ candidates }: SizeData): Table {
  const time = (value: string | number) => (value === '' ? '–' : formatSeconds(Number(value)))
  const sizes = [
    ...new Set(candidates.flatMap((c) => [...c.points, ...(c.measured ?? [])]).map((point) => point.bytes)),
  ].sort((a, b) => a - b)
  const column = (title: string, csv: string) => ({ title, csv, numeric: true, show: time })
  return {
    caption: 'Time by size',
    columns: [
      { title: 'Candidate', csv: 'candidate' },
      { title: 'Size', csv: 'bytes', numeric: true, show: (value) => formatBytes(Number(value)) },
      column('Predicted', 'predicted_s'),
      column('Measured', 'measured_median_s'),
      column('5 %', 'measured_p5_s'),
      column('95 %', 'measured_p95_s'),
    ],
    rows: candidates.flatMap((candidate) =>
      sizes.flatMap((bytes) => {
        const predicted = candidate.points.find((point) => point.bytes === bytes)?.seconds
        const measured = candidate.measured?.find((point) => point.bytes === bytes)?.measured
        if (predicted === undefined && measured === undefined) return []
        return [
          [
            candidate.label,
            bytes,
            predicted ?? '',
            measured?.median ?? '',
            measured?.low ?? '',
            measured?.high ?? '',
          ],
        ]
      }),
    ),
  }
}

/** Which candidate wins at which size, and whether the measurements agree. */
export function SizeChart({ candidates, bytes }: SizeChartProps): JSX.Element {
  const draw = useCallback(
    (width: number, scale: number) => layoutSizes({ candidates, bytes }, width, scale),
    [candidates, bytes],
  )
  const summary = useMemo(() => sizeSummary({ candidates }), [candidates])
  return (
    <Chart
      title="Time by size"
      summary={summary}
      testId="size-plot"
      items="Sizes and candidates"
      fileName="papilio-sizes"
      table={() => sizeTable({ candidates })}
      draw={draw}
      notes={<span class="stage-note">lines: predicted; dots: measured; band: predicted fastest</span>}
    />
  )
}
