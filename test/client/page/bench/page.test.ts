/** What the page of a benchmark says in each state, what it asks for, and what its chart shows. */
import { expect, it } from 'vitest'
import {
  bandwidthSummary,
  bandwidthTable,
  layoutBandwidth,
  seriesOf,
} from '../../../../client/page/bench/bandwidthLayout.ts'
import {
  type BenchState,
  benchWordOf,
  initialBenchState,
  percentOf,
  sentenceOf,
} from '../../../../client/page/bench/benchState.ts'
import { rowOf, sampleOf, startOf } from '../../../shared/bench/samples.ts'

const ada = { peerId: 'a', name: 'Ada', kind: 'tab' }
const bo = { peerId: 'b', name: 'Bo', kind: 'tab' }
const here: BenchState = {
  ...initialBenchState,
  place: 'joined',
  members: [ada, bo],
  groupState: 'ready',
  present: ['a', 'b'],
}
const progress = { kind: 'progress', bytes: 64, done: 5, total: 10, sizesDone: 1, sizes: 3 } as const

it.each<[string, Partial<BenchState>, string]>([
  ['joining', { place: 'joining' }, 'Asking the server for a place.'],
  ['empty', { members: [ada] }, 'A benchmark needs at least one more peer.'],
  ['ready', {}, '2 of 2 peers are ready.'],
  ['connecting', { groupState: 'connecting' }, 'The links between the peers are being opened and measured.'],
  ['connecting', { wanted: startOf().plan, present: ['a'] }, 'Bo: in the room, but not on this page.'],
  ['connecting', { wanted: startOf().plan, expected: 4 }, 'Waiting for 2 more peers of this page.'],
  ['running', { phase: 'running', progress }, 'Size 2 of 3, iteration 5 of 10.'],
  ['finished', { phase: 'done', rows: [rowOf()] }, '1 row, every checked element right.'],
  ['finished', { phase: 'done', rows: [rowOf({ inPlace: sampleOf([1], 8, 3) })] }, '3 elements are wrong.'],
  ['stopped', { phase: 'stopped', rows: [rowOf()] }, 'Measured until then: 1 row.'],
  ['failed', { phase: 'failed', error: 'Bo left.' }, 'Bo left.'],
  ['refused', { place: 'refused', problem: { code: 'ROOM_FULL', message: 'It is full.' } }, 'It is full.'],
])('is %s and says why', (word, changes, sentence) => {
  const state = { ...here, ...changes }
  expect(benchWordOf(state)).toBe(word)
  expect(sentenceOf(state).sentence).toBe(sentence)
})

it('is as far as its sizes and iterations', () => {
  expect(percentOf({ ...here, phase: 'running', progress })).toBe(50)
  expect(percentOf({ ...here, phase: 'done' })).toBe(100)
  expect(percentOf(here)).toBe(0)
})

it('draws one line for each label, with the spread of the iterations, and nothing without sizes', () => {
  const rows = [rowOf(), rowOf({ bytes: 4_000_000 }), rowOf({ label: 'star', baseline: 'star' })]
  const series = seriesOf(rows, 'allreduce', 2)
  expect(series.map(({ label, isBaseline, points }) => [label, isBaseline, points.length])).toEqual([
    ['auto', false, 2],
    ['star', true, 1],
  ])
  expect(series[0]!.points[0]).toMatchObject({ bytes: 1_000_000, low: 1e6 / 0.014, high: 1e6 / 0.009 })
  const { hits, marks, width } = layoutBandwidth(series, 700)
  expect(hits).toHaveLength(3)
  for (const mark of marks) if (mark.kind === 'circle') expect(mark.x).toBeLessThan(width)
  expect(bandwidthTable(series).rows).toHaveLength(3)
  expect(bandwidthSummary(series)).toContain('for 2 algorithms. Most:')
  expect(seriesOf([rowOf({ bytes: 0 })], 'barrier', 2)).toEqual([])
  expect(layoutBandwidth([], 700).marks).toEqual([])
})
