/** Golden texts: each format of the same small benchmark. */
import { describe, expect, it } from 'vitest'
import { createCsv } from '../../../shared/bench/csv.ts'
import { type BenchFormat, typeNamed } from '../../../shared/bench/format.ts'
import { createNcclTable, number } from '../../../shared/bench/ncclTable.ts'
import { createOsuTable } from '../../../shared/bench/osuTable.ts'
import { createJsonLines } from '../../../shared/bench/result.ts'
import { eventsOf, rowOf, sampleOf, startOf } from './samples.ts'

const version = '0.1.0'
const star = rowOf({
  label: 'star',
  baseline: 'star',
  algorithm: 'star',
  settings: {},
  r: undefined,
  outOfPlace: sampleOf([20, 20, 20], 1_000_000),
  inPlace: undefined,
})

const write = (format: BenchFormat, rows = [rowOf({ ratios: { star: 2 } }), star], errors: string[] = []) => {
  const start = startOf({ baselines: ['star'] })
  return [...eventsOf(start, rows).flatMap((event) => format.tell(event)), ...format.finish(errors)]
}

describe('the table of nccl-tests', () => {
  it('has its 13 columns, then ours', () => {
    expect(write(createNcclTable({ version })).join('\n')).toBe(`# papilio version 0.1.0
# Collective test starting: papilio bench allreduce
# minBytes 8 maxBytes 1024 step: 4(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1
#
# Using devices
#  Rank  0 Group  2 Ada (node) on Node 20, clock 0.10 us, links: 1 direct
#  Rank  1 Group  2 Bo (node) on Node 20, clock 0.10 us, links: 1 direct
#
# time: median over the iterations of the time of the slowest rank; in turns with all other rows of the same size
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong  algo                          r  steps    wire      pred  model_err    star
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)                                                  (GB/s)      (us)             (times)
     1000000        250000     float     sum      -1  10000.0    0.10    0.10       0  20000.0    0.05    0.05       0  butterfly                     1      1    0.10   8000.00        25%   2.00x
     1000000        250000     float     sum      -1  20000.0    0.05    0.05     N/A      N/A     N/A     N/A     N/A  star                          -      1    0.05   8000.00       150%       -
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.075
#
# Collective test concluded: papilio bench allreduce`)
  })

  it('is only that of nccl-tests when it is to be plain, in other units and with times of day', () => {
    const lines = write(createNcclTable({ version, isPlain: true, unit: 'MB/s', stamp: () => '12:00:00' }))
    const rows = lines.filter((line) => !line.includes('#'))
    expect(rows[0]).toBe(
      '12:00:00      1000000        250000     float     sum      -1  10000.0  100.00  100.00       0  20000.0   50.00   50.00       0',
    )
    expect(lines.find((line) => line.includes('(elements)'))).toContain('(MB/s)')
  })

  it('says what is wrong, what is slow, and what ended it', () => {
    const wrong = rowOf({ outOfPlace: sampleOf([10], 1_000_000, 7) })
    const lines = write(createNcclTable({ version, minBandwidth: 0.2 }), [wrong], ['Bo left.'])
    expect(lines.slice(-5)).toEqual([
      '# Bo left.',
      '# Out of bounds values : 7 FAILED',
      '# Avg bus bandwidth    : 0.075 FAILED',
      '#',
      '# Collective test concluded: papilio bench allreduce',
    ])
    expect(write(createNcclTable({ version, minBandwidth: 0.08 })).at(-3)).toContain('0.075 OK')
  })

  it.each([
    [0, '0.00'],
    [3.4e-7, '3.4e-7'],
    [0.0034, '0.0034'],
    [0.5, '0.50'],
    [123.456, '123.46'],
    [1234.56, '1234.6'],
    [123456.7, '123457'],
    [1234567, '1e+6'],
  ])('writes %d in six places as %s', (value, text) => {
    expect(number(value, 6)).toBe(text)
  })
})

it('OSU: latencies over the ranks, iterations and validation', () => {
  expect(write(createOsuTable({ version })).join('\n')).toBe(`# Papilio Allreduce Latency Test v0.1.0
# Datatype: float, operator: sum, algorithm: auto.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  Validation
# 1000000 bytes: butterfly
1000000             11000.00           9000.00          14000.00           3        Pass
# Datatype: float, operator: sum, algorithm: star.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  Validation
1000000             20000.00          20000.00          20000.00           3         N/A`)
  const wrong = rowOf({ outOfPlace: sampleOf([10], 1_000_000, 7) })
  expect(write(createOsuTable({ version }), [wrong]).slice(-2)).toEqual([
    '1000000             10000.00          10000.00          10000.00           3        Fail',
    '# DATA VALIDATION ERROR: 1 of the sizes have wrong elements.',
  ])
})

it('CSV: one header, as many fields in each row, units in the names', () => {
  const [head, first, second, ...rest] = write(createCsv()).map((line) => line.split(','))
  expect(rest).toEqual([])
  const field = (row: readonly string[] | undefined, name: string) => row?.[head!.indexOf(name)]
  expect(first).toHaveLength(head!.length)
  expect(second).toHaveLength(head!.length)
  expect(field(first, 'settings')).toBe('r=1 group=cyclic')
  expect(field(first, 'time_us_out_of_place')).toBe('10000')
  expect(field(first, 'busbw_gbps_in_place')).toBe('0.05')
  expect(field(first, 'model_error_pct')).toBe('25')
  expect(field(first, 'ratio_star')).toBe('2')
  expect(field(second, 'time_us_in_place')).toBe('')
  expect(field(second, 'wrong_out_of_place')).toBe('')
  const named = write(createCsv(), [rowOf({ settings: { groups: '0,1' } })])
  expect(named[1]).toContain(',"groups=0,1",')
})

it('JSON lines: each event as it happens, with its time', () => {
  let now = 5
  const format = createJsonLines({ version, args: ['-b', '8'], now: () => 'T' }, () => now++)
  const lines = write(format, undefined, ['Bo left.']).map((line) => JSON.parse(line))
  expect(lines.map(({ event }) => event)).toEqual(['start', 'link', 'link', 'size', 'size', 'end'])
  expect(lines.map(({ t_us }) => t_us / 1e6)).toEqual([1, 2, 3, 4, 5, 6])
  expect(lines[3].data).toMatchObject({ size: 1_000_000, out_of_place: { time: 10_000, nwrong: 0 } })
  expect(lines[5].data).toEqual({
    time: 'T',
    rows: 2,
    nwrong: 0,
    average_bus_bandwidth: 0.075,
    errors: ['Bo left.'],
  })
})

it('knows types by the names of nccl-tests and by its own', () => {
  expect(['float', 'half', 'int8', 'f64', 'string'].map(typeNamed)).toEqual([
    'f32',
    'f16',
    'i8',
    'f64',
    undefined,
  ])
})
