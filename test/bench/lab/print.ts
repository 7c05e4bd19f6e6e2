/** Tables of the lab benchmark. */
import { describeNetwork, roundTrip } from '../../lab/network.ts'
import { median, milliseconds, sizeText } from '../statistics.ts'
import type { Cell, LinkSample, Summary } from './samples.ts'
import { type Baseline, baselineNotes } from './select.ts'

const percent = (part: number) => `${(100 * part).toFixed(0)} %`
const signed = (part: number) => `${part < 0 ? '' : '+'}${percent(part)}`

/** What pings and bare streams have found, beside what the network is set to and what the group believes. */
export function printLinks({ network, peers, size, date, load, ranks }: LinkSample): void {
  console.log(`\n# P = ${size} ${peers === 'node' ? 'Node peers' : 'tabs'}: ${describeNetwork(network)}`)
  console.log(`${date}, load of the machine ${load.toFixed(1)}`)
  const oneWay = ranks.flatMap((rank) => rank.oneWay)
  const beta = ranks.flatMap((rank) => rank.beta ?? [])
  const rate = (secondsPerByte: number) => `${(8e-6 / secondsPerByte).toFixed(1)} Mbit/s`
  const [first] = ranks
  if (!first || oneWay.length === 0 || beta.length === 0) return
  console.log(
    `Found: alpha ${milliseconds(oneWay)} ms one way (set: ${roundTrip(network) / 2} ms); beta of a bare stream ${rate(median(beta))}, ` +
      `each to the next at once ${rate(median(ranks.map(({ ringBeta }) => ringBeta)))}` +
      `${network.rate > 0 ? ` (set: ${network.rate} Mbit/s)` : ''}`,
  )
  console.log(
    `The group found: alpha ${(first.modelAlpha * 1e3).toFixed(2)} ms, a host's line ${rate(first.modelHostBeta)}`,
  )
}

export function printCell(cell: Cell): void {
  const { size, bytes, network, summaries, auto, best, regret, floor } = cell
  const oneWay = roundTrip(network) / 2000
  const load = cell.load.map((value) => value.toFixed(1)).join(' to ')
  console.log(
    `\n## P = ${size}, ${sizeText(bytes)}; at the least ${(floor * 1e3).toFixed(1)} ms; load of the machine ${load}`,
  )
  console.log(
    '| what | ms | calls | one-way delays | slowest rank | predicted, ms | off | / auto | of the line | frames dropped a call |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |')
  for (const summary of summaries) {
    const { label, seconds, predicted, error, use } = summary
    const columns = [
      nameOf(summary),
      milliseconds(seconds),
      seconds.length,
      oneWay > 0 ? (summary.median / oneWay).toFixed(1) : '-',
      (summary.slowest * 1e3).toFixed(1),
      predicted === undefined ? '-' : (predicted * 1e3).toFixed(1),
      error === undefined ? '-' : signed(error),
      auto && label !== 'auto' ? (summary.median / auto.median).toFixed(2) : '-',
      use === undefined ? '-' : use.toFixed(2),
      summary.dropped.toFixed(0),
    ]
    console.log(`| ${columns.join(' | ')} |`)
  }
  if (auto && best && regret !== undefined)
    console.log(`\nauto took ${auto.chosen}; the best was ${best.label}; regret ${percent(regret)}`)
  const wrong = summaries.filter((summary) => summary.wrong > 0)
  for (const { label, wrong: count } of wrong) console.log(`WRONG results: ${count} of ${label}`)
}

function nameOf({ label, wrong }: Summary): string {
  const note = label in baselineNotes ? baselineNotes[label as Baseline] : undefined
  return `${label}${note && note !== label ? ` (${note})` : ''}${wrong > 0 ? ' (WRONG)' : ''}`
}

/** Median and worst of all cells. */
export function printTotals(cells: readonly Cell[]): void {
  const regrets = cells.flatMap(({ regret }) => regret ?? [])
  const errors = cells.flatMap(({ summaries }) => summaries.flatMap(({ error }) => error ?? []).map(Math.abs))
  console.log(`\n# All ${cells.length} cells`)
  if (regrets.length > 0)
    console.log(`Regret of auto: median ${percent(median(regrets))}, worst ${percent(Math.max(...regrets))}`)
  if (errors.length > 0)
    console.log(
      `Predicted against measured: ${errors.length} pairs, off by ${percent(median(errors))} in the median, by ${percent(Math.max(...errors))} at worst`,
    )
}
