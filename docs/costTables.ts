/** Writes the tables of docs/cost-model.md from the model itself: `npx tsx docs/costTables.ts`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseSchedule } from '../shared/cost/choose.ts'
import { butterflyTerms, ringTerms, secondsOf } from '../shared/cost/closedForm.ts'
import { curveThrough, curveTime } from '../shared/cost/curve.ts'
import { bytesText, labelOf, timeText } from '../shared/cost/explain.ts'
import { probeSizes } from '../shared/cost/fit.ts'
import { predict } from '../shared/cost/predict.ts'
import { classroom, internet, loopback, modelOf, windowCurve } from '../shared/cost/scenarios.ts'
import { buildSchedule } from '../shared/schedule/build.ts'
import { countSchedule } from '../shared/schedule/counts.ts'
import { findAlgorithm } from '../shared/schedule/registry.ts'
import { table } from './table.ts'

const butterfly = findAlgorithm('butterfly', 'allreduce')
const exact = (size: number, r: number) =>
  countSchedule(buildSchedule(butterfly, size, { r, group: 'cyclic' }))

/** Where equations 36 and 44 are loose. */
function bounds(): string {
  const cells: [number, number][] = [
    [7, 0],
    [7, 1],
    [7, 2],
    [7, 3],
    [12, 3],
    [33, 5],
    [64, 3],
  ]
  const rows = cells.map(([size, r]) => {
    const counts = exact(size, r)
    const bound = butterflyTerms(size, r)
    const pair = (value: number, limit: number) => [String(value), String(Math.round(limit * size))]
    return [
      String(size),
      String(r),
      String(counts.steps),
      ...pair(counts.chunksSentPerRank, bound.sent),
      ...pair(counts.chunkCombinesPerRank, bound.combined),
    ]
  })
  return table(['P', 'r', 'steps', 'sent', 'sent by (36), (44)', 'combined', 'combined by (36), (44)'], rows)
}

/** A link with a window beside the best line through it. */
function curve(): string {
  const link = windowCurve({ latency: 5e-3, beta: 1e-8, firstFlight: 4700 })
  const fitted = curveThrough(
    probeSizes.map((bytes) => ({ bytes, seconds: curveTime(link, bytes) })),
    1,
  )
  const rows = probeSizes.map((bytes) => {
    const seconds = curveTime(fitted, bytes)
    const line = fitted.alpha + fitted.beta * bytes
    const error = Math.round(100 * (line / seconds - 1))
    return [bytesText(bytes), timeText(seconds), timeText(line), `${error > 0 ? '+' : ''}${error} %`]
  })
  return table(['bytes', 'measured, one way', 'alpha + beta m', 'error of the line'], rows)
}

/** The ring on a network of straight lines: the price is the formula. */
function ring(): string {
  const cost = { alpha: 2e-3, beta: 1e-7, gamma: 1e-9 }
  const points = [0, 2 ** 26].map((bytes) => ({ bytes, seconds: cost.alpha + cost.beta * bytes }))
  const link = curveThrough(points, 1)
  const rows = [3, 4, 7].map((size) => {
    const links = Array.from({ length: size }, (_, from) =>
      Array.from({ length: size }, (_, to) => (from === to ? undefined : link)),
    )
    const model = { version: 1, size, links, gamma: cost.gamma, overhead: 0, hostBeta: cost.beta }
    const { seconds, parts } = predict(findAlgorithm('ring', 'allreduce'), {}, 100_000, model)
    const formula = secondsOf(ringTerms(size), 100_000, cost)
    return [
      size,
      ...[parts.alpha, parts.beta, parts.gamma, seconds, formula].map((s) => (1000 * s).toFixed(2)),
    ].map(String)
  })
  return table(['P', 'latency, ms', 'bytes, ms', 'combining, ms', 'price, ms', 'equation 15, ms'], rows)
}

/** What a group chooses on the named networks. */
function choices(): string {
  const rows = [loopback, classroom, internet].flatMap((scenario) => {
    const model = modelOf(scenario(7))
    return [425, 65536, 2 ** 22].map((bytes) => {
      const call = { size: 7, bytes, rounds: true, commutative: true, idempotent: false } as const
      const fast = chooseSchedule({ ...call, consistency: 'fast' }, model)
      const same = chooseSchedule({ ...call, consistency: 'identical' }, model)
      const open = chooseSchedule({ ...call, consistency: 'fast', algorithm: 'butterfly', r: 'auto' }, model)
      const cell = ({ chosen }: typeof fast) => `\`${labelOf(chosen)}\` ${timeText(chosen.seconds)}`
      return [scenario(2).name, bytesText(bytes), cell(fast), cell(same), `r = ${open.chosen.settings.r}`]
    })
  })
  return table(['network', 'vector', 'auto, `fast`', 'auto, `identical`', 'butterfly, r open'], rows)
}

const tables: Readonly<Record<string, () => string>> = { bounds, curve, ring, choices }

/** The guide with all its tables made anew. */
export function renderCostTables(guide: string): string {
  return guide.replace(/<!-- table: (\w+) -->[\s\S]*?<!-- end -->/g, (_, name: string) => {
    const make = tables[name]
    if (!make) throw new Error(`There is no table "${name}"; there are ${Object.keys(tables).join(', ')}`)
    return `<!-- table: ${name} -->\n${make()}\n<!-- end -->`
  })
}

export const costGuidePath = join(import.meta.dirname, 'cost-model.md')

if (process.argv[1] === import.meta.filename)
  writeFileSync(costGuidePath, renderCostTables(readFileSync(costGuidePath, 'utf8')))
