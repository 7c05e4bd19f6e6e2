/** The JSON of a benchmark is what the published schema says, and nothing else. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createJson } from '../../../shared/bench/result.ts'
import { problemsOf } from '../../support/jsonSchema.ts'
import { eventsOf, rowOf, sampleOf, startOf } from './samples.ts'

const schema = JSON.parse(
  readFileSync(new URL('../../../docs/bench-result.schema.json', import.meta.url), 'utf8'),
)

function resultOf(events = eventsOf(startOf(), [rowOf()]), errors: string[] = [], minBandwidth?: number) {
  const format = createJson({
    version: '0.1.0',
    args: ['-b', '8'],
    now: () => '2026-12-01T05:00:00.000Z',
    minBandwidth,
  })
  for (const event of events) format.tell(event)
  return JSON.parse(format.finish(errors).join('\n'))
}

const raw = rowOf({
  label: 'raw (auto)',
  baseline: 'raw',
  r: undefined,
  predictedSeconds: undefined,
  inPlace: undefined,
  outOfPlace: sampleOf([10], 1_000_000),
})

it('fits the schema: whole, with baselines, cut short, and never begun', () => {
  expect(problemsOf(resultOf(), schema)).toEqual([])
  const withRaw = eventsOf(startOf({ baselines: ['raw'] }), [rowOf({ ratios: { raw: 0.9 } }), raw])
  expect(problemsOf(resultOf(withRaw, [], 0.1), schema)).toEqual([])
  expect(problemsOf(resultOf(eventsOf(startOf(), []), ['Bo left.']), schema)).toEqual([])
  expect(problemsOf(resultOf([], ['No group.']), schema)).toEqual([])
})

it('has microseconds and GB/s, and null for what is not known', () => {
  const result = resultOf(eventsOf(startOf(), [rowOf(), raw]))
  expect(result.results[0]).toMatchObject({
    size: 1_000_000,
    type: 'float',
    predicted_us: 8000,
    model_error_pct: 25,
    out_of_place: { time: 10_000, bus_bw: 0.1, nwrong: 0, per_iter: { times_us: [9000, 10_000, 14_000] } },
  })
  expect(result.results[1]).toMatchObject({
    predicted_us: null,
    in_place: null,
    out_of_place: { nwrong: null },
  })
  expect(result.average_bus_bandwidth).toEqual({ bandwidth: 0.075, okay: null })
})

it('is refused by the schema when it is wrong', () => {
  const result = resultOf()
  expect(problemsOf({ ...result, epoch: 1.5, more: 1 }, schema)).toHaveLength(2)
  result.results[0].out_of_place.time = Number.NaN
  expect(problemsOf(JSON.parse(JSON.stringify(result)), schema)).toEqual([
    '$.results.0.out_of_place.time: null is no number',
  ])
})
