/**
 * The text of nccl-tests: the same 13 columns in the same places, then some more, which old parsers leave alone. Lines that begin with # are
 * no data.
 */
import type { BenchEvent, BenchStart, Row, Sample } from './events.ts'
import {
  type About,
  algorithmText,
  type BenchFormat,
  isFastEnough,
  modelError,
  operatorName,
  ratioNames,
  typeName,
} from './format.ts'
import type { Baseline } from './plan.ts'
import { createTally } from './run.ts'

export interface NcclOptions extends About {
  /** MB/s: for networks on which GB/s are mostly zeros. */
  readonly unit?: 'GB/s' | 'MB/s' | undefined
  /** Only the columns of nccl-tests. */
  readonly isPlain?: boolean | undefined
  /** Head of each data line, such as the time of day. */
  readonly stamp?: (() => string) | undefined
}

const algorithmWidth = 26

export function createNcclTable(options: NcclOptions): BenchFormat {
  const { version, unit = 'GB/s', isPlain = false, minBandwidth, stamp } = options
  const perUnit = unit === 'GB/s' ? 1e9 : 1e6
  const tally = createTally()
  let start: BenchStart | undefined

  const rate = (bytesPerSecond: number, width: number) => number(bytesPerSecond / perUnit, width)
  const sampleText = (sample: Sample | undefined) => {
    const fields = sample && [
      number(sample.seconds * 1e6, 7),
      rate(sample.algbw, 6),
      rate(sample.busbw, 6),
      sample.wrong === undefined ? 'N/A' : String(sample.wrong),
    ]
    const [time = '', ...others] = fields ?? ['N/A', 'N/A', 'N/A', 'N/A']
    return [time.padStart(7), ...others.map((field) => field.padStart(6))].join('  ')
  }
  const extraText = (row: Row, baselines: readonly Baseline[]) => {
    const error = modelError(row)
    return [
      algorithmText(row).padEnd(algorithmWidth),
      (row.r === undefined ? '-' : String(row.r)).padStart(3),
      String(row.steps).padStart(5),
      rate(row.outOfPlace.wirebw, 6).padStart(6),
      (row.predictedSeconds === undefined ? 'N/A' : number(row.predictedSeconds * 1e6, 7)).padStart(8),
      (error === undefined ? 'N/A' : `${(error * 100).toFixed(0)}%`).padStart(9),
      ...baselines.map((name) => ratioText(row.ratios[name]).padStart(widthOf(name))),
    ].join('  ')
  }

  return {
    tell(event: BenchEvent) {
      if (event.kind === 'start') {
        start = event.start
        return headOf(start, { version, unit, isPlain }, stamp?.())
      }
      if (event.kind !== 'row' || !start) return []
      const { row } = event
      tally.add(row)
      const own = [
        row.bytes.toString().padStart(12),
        row.count.toString().padStart(12),
        typeName(row.dtype).padStart(8),
        operatorName(row.op).padStart(6),
        row.root.toString().padStart(6),
        sampleText(row.outOfPlace),
        sampleText(row.inPlace),
        ...(isPlain ? [] : [extraText(row, baselinesOf(start))]),
      ].join('  ')
      return [`${stamp ? `${stamp()} ` : ''}${own}`.trimEnd()]
    },
    finish(errors) {
      if (!start) return errors.map((error) => `# ${error}`)
      const { wrong, averageBusbw } = tally.end()
      const verdict =
        minBandwidth === undefined ? '' : isFastEnough(averageBusbw, minBandwidth) ? ' OK' : ' FAILED'
      return [
        ...errors.map((error) => `# ${error}`),
        `# Out of bounds values : ${wrong} ${wrong === 0 ? 'OK' : 'FAILED'}`,
        `# Avg bus bandwidth    : ${Number((averageBusbw / perUnit).toPrecision(6))}${verdict}`,
        '#',
        `# Collective test concluded: ${nameOf(start)}`,
      ]
    },
  }
}

const nameOf = ({ plan }: BenchStart) => `papilio bench ${plan.collective}`

/** Those that the plan has, in one order. */
const baselinesOf = ({ plan }: BenchStart) => ratioNames.filter((name) => plan.baselines.includes(name))

const widthOf = (name: Baseline) => Math.max(6, name.length + 2)
const ratioText = (ratio: number | undefined) => (ratio === undefined ? '-' : `${number(ratio, 5)}x`)

function headOf(
  start: BenchStart,
  { version, unit, isPlain }: Required<Pick<NcclOptions, 'version' | 'unit' | 'isPlain'>>,
  stamp: string | undefined,
): string[] {
  const { plan, ranks, epoch } = start
  const { step } = plan
  const stepText = 'factor' in step ? `${step.factor}(factor)` : `${step.bytes}(bytes)`
  const pad = ' '.repeat(stamp === undefined ? 0 : stamp.length + 1)
  const columns = (fields: readonly string[]) => {
    const widths = [0, 12, 8, 6, 6, 7, 6, 6, 6, 7, 6, 6, 6]
    const [size = '', ...others] = fields
    return [`${pad}# ${size.padStart(10)}`, ...others.map((field, i) => field.padStart(widths[i + 1]!))].join(
      '  ',
    )
  }
  const extra = ['algo', 'r', 'steps', 'wire', 'pred', 'model_err'] as const
  const widths = [algorithmWidth, 3, 5, 6, 8, 9]
  const more = (fields: readonly string[], ratios: (name: Baseline) => string) =>
    isPlain
      ? ''
      : `  ${[
          ...fields.map((field, i) => (i === 0 ? field.padEnd(widths[i]!) : field.padStart(widths[i]!))),
          ...baselinesOf(start).map((name) => ratios(name).padStart(widthOf(name))),
        ].join('  ')}`
  const names = ['time', 'algbw', 'busbw', '#wrong']
  const units = ['(us)', `(${unit})`, `(${unit})`, '']
  return [
    `# papilio version ${version}`,
    `# Collective test starting: ${nameOf(start)}`,
    `# minBytes ${plan.minBytes} maxBytes ${plan.maxBytes} step: ${stepText} warmup iters: ${Math.max(1, plan.warmup)} iters: ${plan.iterations} agg iters: ${plan.aggregate} validation: ${plan.check}`,
    '#',
    '# Using devices',
    ...ranks.map(
      ({ name, kind, agent, tick, paths }, rank) =>
        `#  Rank ${String(rank).padStart(2)} Group ${String(epoch).padStart(2)} ${name} (${kind}) on ${agent}, clock ${number(tick * 1e6, 5)} us, links: ${pathsText(paths)}`,
    ),
    '#',
    `# time: median over the iterations of ${averageText[plan.average]}; in turns with all other rows of the same size`,
    '#',
    `${columns(['', '', '', '', ''])}           out-of-place                       in-place          `.trimEnd(),
    `${columns(['size', 'count', 'type', 'redop', 'root', ...names, ...names])}${more(extra, (name) => name)}`,
    `${columns(['(B)', '(elements)', '', '', '', ...units, ...units])}${more(['', '', '', `(${unit})`, '(us)', ''], () => '(times)')}`.trimEnd(),
  ]
}

const averageText = {
  rank0: 'the time of rank 0',
  avg: 'the mean time of the ranks',
  min: 'the time of the fastest rank',
  max: 'the time of the slowest rank',
} as const

function pathsText(paths: Readonly<Record<string, number>>): string {
  return (
    Object.entries(paths)
      .map(([path, count]) => `${count} ${path}`)
      .join(', ') || 'none'
  )
}

/** Two decimals while they fit, then fewer, then an exponent; four where two would be zeros, and an exponent where four would. */
export function number(value: number, width: number): string {
  if (value > 0 && value < 0.001 && width >= 6) return value.toExponential(1)
  if (value > 0 && value < 0.01 && width >= 6) return value.toFixed(4)
  for (const decimals of [2, 1, 0]) {
    const text = value.toFixed(decimals)
    if (text.length <= width) return text
  }
  return value.toExponential(width >= 7 ? 1 : 0)
}
