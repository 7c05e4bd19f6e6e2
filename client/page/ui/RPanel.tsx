/** For this P and size: each r with its steps and bytes, predicted beside measured, and a run that measures them all. */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { quantile } from '../../session/outcome.ts'
import { formatPercent } from '../format.ts'
import { type RRow, rRows } from '../session/planning.ts'
import { sweepOf, sweepRepeats, sweptAlgorithm } from '../session/settings.ts'
import { SweepChart } from '../stage/charts/SweepChart.tsx'
import type { SweepRow } from '../stage/charts/sweepLayout.ts'
import { formatBytes, formatSeconds, plural } from '../stage/format.ts'
import { useStore } from '../store.ts'
import { Icon } from './Icon.tsx'
import { TableScroll } from './TableScroll.tsx'
import { Term } from './Term.tsx'

export function RPanel(): JSX.Element {
  const store = useStore()
  const { lab, settings } = store
  const rows = useComputed(() =>
    rRows(settings.value, store.size.value, store.model.value, store.measured.value),
  ).value
  const reason = store.reason.value
  const simulated = store.simulated.value
  const size = store.size.value
  const { bytes, algorithm, op, dtype } = settings.value
  const name = sweptAlgorithm(algorithm, size)
  return (
    <>
      <h2 class="panel-title">
        Every <Term of="r">r</Term> at P = {size}, {formatBytes(bytes)}
      </h2>
      <p class="note">
        {name}, {op} of {dtype}
        {simulated ? ', on guessed links' : ''}
      </p>
      <RTable rows={rows} />
      <p class="why">{sentenceOf(rows)}</p>
      <p class="panel-actions">
        <button
          type="button"
          class="button"
          data-testid="sweep"
          disabled={reason !== undefined || rows.length === 0}
          title={reason}
          onClick={() => lab.request(sweepOf(settings.value, size))}
        >
          Measure every r
        </button>
        <span class="note">
          {reason ?? `${plural(Math.max(sweepRepeats, settings.value.repeats), 'repeat')} each, in turns`}
        </span>
      </p>
      <SweepPicture rows={rows} bytes={bytes} />
    </>
  )
}

function RTable({ rows }: { rows: readonly RRow[] }): JSX.Element {
  return (
    <TableScroll label="Every r">
      <table class="numbers" data-testid="r-table">
        <thead>
          <tr>
            <th scope="col">r</th>
            <th scope="col">steps</th>
            <th scope="col">sent</th>
            <th scope="col">predicted</th>
            <th scope="col">measured</th>
            <th scope="col">error</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <RLine key={row.r} row={row} />
          ))}
        </tbody>
      </table>
    </TableScroll>
  )
}

function RLine({ row }: { row: RRow }): JSX.Element {
  const { r, prediction, chunksSent, chunks, measured, error } = row
  const exact = measured && {
    'data-measured': measured.median,
    'data-p95': measured.p95,
    'data-n': measured.seconds.length,
  }
  return (
    <tr
      data-r={r}
      data-best-predicted={row.isBestPredicted}
      data-best-measured={row.isBestMeasured}
      data-auto={row.isChosen}
      data-predicted={prediction.seconds}
      {...exact}
      {...(row.isChosen ? { 'data-testid': 'r-best' } : {})}
    >
      <th scope="row">
        {r}
        {row.isChosen && <span class="tag">auto</span>}
      </th>
      <td>{prediction.steps}</td>
      <td title={`${formatBytes(Math.round(prediction.bytesSent))} sent by the busiest rank`}>
        {chunksSent}
        <span class="of">/{chunks}</span>
      </td>
      <td>
        {row.isBestPredicted && <Best label="best predicted" />}
        {formatSeconds(prediction.seconds)}
      </td>
      <td>
        {row.isBestMeasured && <Best label="best measured" />}
        {measured ? formatSeconds(measured.median) : '–'}
        {measured && (
          <span class="sub" title={`median of ${plural(measured.seconds.length, 'run')}`}>
            {measured.seconds.length === 1 ? 'one run' : `p95 ${formatSeconds(measured.p95)}`}
          </span>
        )}
      </td>
      <td>{error === undefined ? '–' : formatPercent(error)}</td>
    </tr>
  )
}

function Best({ label }: { label: string }): JSX.Element {
  return (
    <span class="best" title={label}>
      <Icon name="ok" size={16} />
      <span class="heard">{label} </span>
    </span>
  )
}

function sentenceOf(rows: readonly RRow[]): string {
  const predicted = rows.find((row) => row.isBestPredicted)
  const measured = rows.find((row) => row.isBestMeasured)
  const auto = rows.find((row) => row.isChosen)
  if (!predicted || !auto) return ''
  const best = `r = ${predicted.r} is predicted fastest`
  const chosen = auto === predicted ? '' : ` Auto takes r = ${auto.r}, so that r never rises with the size.`
  if (!measured?.measured)
    return `${best}.${chosen} Sent: chunks by the busiest rank, of chunks in the vector.`
  const count = rows.filter((row) => row.measured).length
  const fastest =
    count === rows.length ? 'measured fastest' : `measured fastest of the ${count} measured so far`
  if (measured === predicted) return `${best}, and ${fastest}.${chosen}`
  const saved = predicted.measured && 1 - measured.measured.median / predicted.measured.median
  const by =
    saved === undefined
      ? ''
      : `, in ${formatPercent(saved).replace('+', '')} less time than r = ${predicted.r}`
  return `${best}; r = ${measured.r} is ${fastest}${by}.${chosen}`
}

function SweepPicture({ rows, bytes }: { rows: readonly RRow[]; bytes: number }): JSX.Element {
  const shown = useMemo(
    () =>
      rows.map(
        ({ r, prediction, measured, isChosen }): SweepRow => ({
          label: `r = ${r}`,
          prediction,
          chosen: isChosen,
          ...(measured
            ? {
                measured: {
                  median: measured.median,
                  low: quantile(measured.seconds, 0.05),
                  high: measured.p95,
                  runs: measured.seconds.length,
                },
              }
            : {}),
        }),
      ),
    [rows],
  )
  return <SweepChart rows={shown} bytes={bytes} />
}
