/** Comma-separated values (RFC 4180): one header row with the unit in each name, one row for each size and variant. GB/s are 1e9 bytes. */
import type { Row, Sample } from './events.ts'
import { type BenchFormat, modelError, operatorName, typeName } from './format.ts'
import { modes } from './measure.ts'

type Field = string | number | undefined

const us = (seconds: number) => round(seconds * 1e6)
const gb = (bytesPerSecond: number) => round(bytesPerSecond / 1e9)
/** Nine digits are more than any clock has. */
const round = (value: number) => Number(value.toPrecision(9))

const ofSample: Readonly<Record<string, (sample: Sample) => Field>> = {
  time_us: ({ seconds }) => us(seconds),
  algbw_gbps: ({ algbw }) => gb(algbw),
  busbw_gbps: ({ busbw }) => gb(busbw),
  wirebw_gbps: ({ wirebw }) => gb(wirebw),
  wrong: ({ wrong }) => wrong,
  min_us: ({ spread }) => us(spread.min),
  max_us: ({ spread }) => us(spread.max),
  avg_us: ({ spread }) => us(spread.avg),
  p95_us: ({ spread }) => us(spread.p95),
  stdev_us: ({ spread }) => us(spread.stdev),
}

const columns: readonly (readonly [name: string, field: (row: Row) => Field])[] = [
  ['cycle', ({ cycle }) => cycle],
  ['bytes', ({ bytes }) => bytes],
  ['count', ({ count }) => count],
  ['type', ({ dtype }) => typeName(dtype)],
  ['redop', ({ op }) => operatorName(op)],
  ['root', ({ root }) => root],
  ['label', ({ label }) => label],
  ['baseline', ({ baseline }) => baseline],
  ['algorithm', ({ algorithm }) => algorithm],
  [
    'settings',
    ({ settings }) =>
      Object.entries(settings)
        .map((pair) => pair.join('='))
        .join(' '),
  ],
  ['r', ({ r }) => r],
  ['steps', ({ steps }) => steps],
  ['iterations', ({ iterations }) => iterations],
  ['aggregate', ({ aggregate }) => aggregate],
  ['bytes_sent', ({ bytesSent }) => bytesSent],
  ['predicted_us', ({ predictedSeconds }) => predictedSeconds && us(predictedSeconds)],
  [
    'model_error_pct',
    (row) => {
      const error = modelError(row)
      return error === undefined ? undefined : round(error * 100)
    },
  ],
  ...modes.flatMap((mode) =>
    Object.entries(ofSample).map(([name, field]) => {
      const suffix = mode === 'outOfPlace' ? 'out_of_place' : 'in_place'
      return [`${name}_${suffix}`, (row: Row) => row[mode] && field(row[mode])] as const
    }),
  ),
  ['ratio_raw', ({ ratios }) => ratios.raw && round(ratios.raw)],
  ['ratio_star', ({ ratios }) => ratios.star && round(ratios.star)],
  ['ratio_send_to_all', ({ ratios }) => ratios['send-to-all'] && round(ratios['send-to-all'])],
]

/** Errors are no rows: whoever writes the file tells them elsewhere. */
export function createCsv(): BenchFormat {
  return {
    tell(event) {
      if (event.kind === 'start') return [columns.map(([name]) => name).join(',')]
      if (event.kind !== 'row') return []
      return [columns.map(([, field]) => quoted(field(event.row))).join(',')]
    },
    finish: () => [],
  }
}

function quoted(field: Field): string {
  const text = field === undefined ? '' : String(field)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
