/** The rows as they come, their chart, and both as files in the formats of the command line. */
import type { JSX } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import { version } from '../../../../package.json'
import { createCsv } from '../../../../shared/bench/csv.ts'
import type { Row, Sample } from '../../../../shared/bench/events.ts'
import { algorithmText, type BenchFormat, modelError, ratioNames } from '../../../../shared/bench/format.ts'
import { createNcclTable } from '../../../../shared/bench/ncclTable.ts'
import { createOsuTable } from '../../../../shared/bench/osuTable.ts'
import type { Baseline } from '../../../../shared/bench/plan.ts'
import { createJson } from '../../../../shared/bench/result.ts'
import { formatPercent } from '../../format.ts'
import { Chart } from '../../stage/drawing/Chart.tsx'
import { saveFile } from '../../stage/drawing/saveFile.ts'
import { formatBytes, formatRate, formatSeconds } from '../../stage/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { TableScroll } from '../../ui/TableScroll.tsx'
import { bandwidthSummary, bandwidthTable, layoutBandwidth, seriesOf } from '../bandwidthLayout.ts'
import { wrongOf } from '../benchState.ts'
import { useBench } from '../benchStore.ts'

export function BenchResult(): JSX.Element {
  const { state } = useBench()
  const { rows, plan, phase, error, events } = state.value
  const [first] = events
  const size = first?.kind === 'start' ? first.start.ranks.length : 0
  const series = useMemo(
    () => (plan && size > 0 ? seriesOf(rows, plan.collective, size) : []),
    [rows, plan, size],
  )
  const draw = useCallback((width: number, scale: number) => layoutBandwidth(series, width, scale), [series])
  if (!plan)
    return (
      <section class="bench-empty" aria-label="Result">
        <p class="note">The rows appear here as they are measured.</p>
      </section>
    )
  const shown = ratioNames.filter((name) => plan.baselines.includes(name))
  return (
    <>
      {series.length > 0 && (
        <section class="bench-chart" aria-label="Chart">
          <Chart
            title="Bus bandwidth by size"
            summary={bandwidthSummary(series)}
            testId="busbw-plot"
            items="Sizes and algorithms"
            fileName="papilio-bench"
            table={() => bandwidthTable(series)}
            draw={draw}
          />
        </section>
      )}
      <section class="bench-table" aria-label="Result">
        {error !== undefined && phase !== 'running' && (
          <p class="note" data-testid="bench-error">
            {error}
          </p>
        )}
        <Verdict />
        <TableScroll label="Rows of the benchmark">
          <table class="numbers" data-testid="bench-rows" data-rows={rows.length}>
            <thead>
              <tr>
                <th scope="col">size</th>
                <th scope="col">algorithm</th>
                <th scope="col">r</th>
                <th scope="col">steps</th>
                <th scope="col">time</th>
                <th scope="col">spread</th>
                <th scope="col">algbw</th>
                <th scope="col">busbw</th>
                <th scope="col">wirebw</th>
                <th scope="col">in place</th>
                <th scope="col">wrong</th>
                <th scope="col">predicted</th>
                <th scope="col">error</th>
                {shown.map((name) => (
                  <th key={name} scope="col">
                    {name} ÷ this
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <RowLine key={`${row.cycle} ${row.bytes} ${row.label}`} row={row} shown={shown} />
              ))}
            </tbody>
          </table>
        </TableScroll>
        <Exports />
      </section>
    </>
  )
}

function Verdict(): JSX.Element | null {
  const { rows, phase } = useBench().state.value
  if (phase === 'running' || rows.length === 0) return null
  const wrong = wrongOf(rows)
  return (
    <p class="verify" data-testid="verify" data-ok={wrong === 0}>
      <span class={wrong === 0 ? 'good' : 'bad'}>
        <Icon name={wrong === 0 ? 'ok' : 'bad'} size={16} />
        {wrong === 0 ? 'every checked element is exact on all peers' : `${wrong} wrong elements`}
      </span>
    </p>
  )
}

function RowLine({ row, shown }: { row: Row; shown: readonly Baseline[] }): JSX.Element {
  const { outOfPlace, inPlace, predictedSeconds, ratios } = row
  const error = modelError(row)
  const wrong = (outOfPlace.wrong ?? 0) + (inPlace?.wrong ?? 0)
  return (
    <tr data-testid="bench-row" data-bytes={row.bytes} data-label={row.label} data-baseline={row.baseline}>
      <th scope="row">{formatBytes(row.bytes)}</th>
      <td>{algorithmText(row)}</td>
      <td>{row.r ?? '–'}</td>
      <td>{row.steps}</td>
      <td>{formatSeconds(outOfPlace.seconds)}</td>
      <td>{spreadText(outOfPlace)}</td>
      <td>{formatRate(outOfPlace.algbw)}</td>
      <td>{formatRate(outOfPlace.busbw)}</td>
      <td>{formatRate(outOfPlace.wirebw)}</td>
      <td>{inPlace ? formatSeconds(inPlace.seconds) : '–'}</td>
      <td class={wrong > 0 ? 'bad' : ''}>{outOfPlace.wrong === undefined ? '–' : wrong}</td>
      <td>{predictedSeconds === undefined ? '–' : formatSeconds(predictedSeconds)}</td>
      <td>{error === undefined ? '–' : formatPercent(error)}</td>
      {shown.map((name) => (
        <td key={name}>{ratioText(ratios[name])}</td>
      ))}
    </tr>
  )
}

const spreadText = ({ spread }: Sample) => `${formatSeconds(spread.min)} … ${formatSeconds(spread.max)}`
const ratioText = (ratio: number | undefined) => (ratio === undefined ? '–' : `×${ratio.toFixed(2)}`)

function Exports(): JSX.Element {
  const { state } = useBench()
  const { events, error } = state.value
  const isOff = events.length === 0
  const save = (name: string, type: string, format: BenchFormat) => {
    const lines = [...events.flatMap((event) => format.tell(event)), ...format.finish(error ? [error] : [])]
    saveFile(name, type, `${lines.join('\n')}\n`)
  }
  const options = { version, args: [], now: () => new Date().toISOString() }
  const button = (label: string, testId: string, write: () => void) => (
    <button type="button" class="button small" data-testid={testId} disabled={isOff} onClick={write}>
      <Icon name="save" size={16} />
      {label}
    </button>
  )
  return (
    <p class="panel-actions exports">
      {button('nccl-tests', 'export-nccl', () =>
        save('papilio-bench.txt', 'text/plain', createNcclTable({ version, unit: 'MB/s' })),
      )}
      {button('OSU', 'export-osu', () =>
        save('papilio-bench-osu.txt', 'text/plain', createOsuTable({ version })),
      )}
      {button('CSV', 'export-csv', () => save('papilio-bench.csv', 'text/csv', createCsv()))}
      {button('JSON', 'export-json', () =>
        save('papilio-bench.json', 'application/json', createJson(options)),
      )}
    </p>
  )
}
