/** What a tab tells the command that opened it survives the way as text; what is no report is refused. */
import { expect, it } from 'vitest'
import { completePlan } from '../../../shared/bench/plan.ts'
import {
  readOrder,
  readReport,
  type TabReport,
  writeOrder,
  writeReport,
} from '../../../shared/bench/reports.ts'
import { eventsOf, rowOf, startOf } from './samples.ts'

it('brings events over as they were, with what is undefined in them', () => {
  const rows = [
    rowOf({ ratios: { raw: 0.9 } }),
    rowOf({ op: undefined, r: undefined, inPlace: undefined, predictedSeconds: undefined, baseline: 'raw' }),
  ]
  for (const event of eventsOf(startOf(), rows)) {
    const report: TabReport = { report: 'event', event }
    expect(readReport(writeReport(report))).toStrictEqual(report)
  }
})

it('brings an order over as a part of an address, and knows addresses without one', () => {
  const order = {
    count: 2,
    size: 3,
    create: true,
    plan: completePlan({ algorithms: ['butterfly:r=1,group=xor'] }),
  }
  const { hash } = new URL(`http://a/bench/b${writeOrder(order)}`)
  expect(readOrder(hash)).toStrictEqual(order)
  expect(readOrder('')).toBeUndefined()
})

it.each([
  ['{', 'no JSON'],
  ['{"report":"event","event":{"kind":"row","row":{}}}', 'row'],
  ['{"report":"failed","code":"NONSENSE","message":"x"}', 'code'],
])('refuses %s', (text, words) => {
  expect(() => readReport(text)).toThrow(words)
})
