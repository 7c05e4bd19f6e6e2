import type { JSX } from 'preact'
import { useCallback, useMemo, useState } from 'preact/hooks'
import { Chart } from '../drawing/Chart.tsx'
import type { Table } from '../drawing/table.ts'
import { formatBytes, formatSeconds } from '../format.ts'
import type { StageRank } from '../timetable/data.ts'
import { rankWords } from '../timetable/words.ts'
import { type FitLink, fitSummary, layoutFit, type Pooling } from './fitLayout.ts'

export interface FitPlotProps {
  readonly ranks: readonly StageRank[]
  readonly links: readonly FitLink[]
  /** Shows this link, "from to", instead of the slowest or median one. */
  readonly link?: string | undefined
}

export function fitTable({ ranks, links }: Pick<FitPlotProps, 'ranks' | 'links'>): Table {
  const who = (value: string | number) => rankWords(ranks, Number(value))
  const time = (value: string | number) => formatSeconds(Number(value))
  return {
    caption: 'One-way time by size',
    columns: [
      { title: 'From', csv: 'from', show: who },
      { title: 'To', csv: 'to', show: who },
      { title: 'Size', csv: 'bytes', numeric: true, show: (value) => formatBytes(Number(value)) },
      { title: 'Measured', csv: 'measured_s', numeric: true, show: time },
      { title: 'Line', csv: 'line_s', numeric: true, show: time },
    ],
    rows: links.flatMap(({ from, to, curve }) =>
      curve.points.map((point) => [
        from,
        to,
        point.bytes,
        point.seconds,
        curve.alpha + curve.beta * point.bytes,
      ]),
    ),
  }
}

const poolings: readonly (readonly [Pooling, string])[] = [
  ['slowest', 'slowest link'],
  ['median', 'median link'],
]

/** What latency and bandwidth mean on these links, and how well a straight line describes them. */
export function FitPlot({ ranks, links, link }: FitPlotProps): JSX.Element {
  const [pooling, setPooling] = useState<Pooling>('slowest')
  const draw = useCallback(
    (width: number, scale: number) => layoutFit({ ranks, links, pooling, link }, width, scale),
    [ranks, links, pooling, link],
  )
  const summary = useMemo(() => fitSummary({ ranks, links, pooling, link }), [ranks, links, pooling, link])
  return (
    <Chart
      title="Cost of a message"
      summary={summary}
      testId="fit-plot"
      items="Measured points"
      fileName="papilio-fit"
      table={() => fitTable({ ranks, links })}
      draw={draw}
      tools={poolings.map(([name, words]) => (
        <button type="button" key={name} aria-pressed={pooling === name} onClick={() => setPooling(name)}>
          {words}
        </button>
      ))}
      footer={<p class="stage-note">{summary}</p>}
    />
  )
}
