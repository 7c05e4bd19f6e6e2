/** `npm run bench -- report FILES`: the tables of runs that were written with --out, together: a long measurement may be made in parts. */
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { printCell, printLinks, printTotals } from './print.ts'
import { type Line, summarize } from './samples.ts'

const network = v.object({
  delay: v.number(),
  rate: v.number(),
  queue: v.number(),
  loss: v.number(),
  shared: v.number(),
})
const about = { network, peers: v.picklist(['node', 'tabs']), size: v.number() }
const sample = v.object({
  kind: v.literal('sample'),
  ...about,
  bytes: v.number(),
  label: v.string(),
  round: v.number(),
  seconds: v.number(),
  slowest: v.number(),
  load: v.number(),
  busiest: v.number(),
  predicted: v.exactOptional(v.number()),
  chosen: v.exactOptional(v.string()),
  isWrong: v.boolean(),
})
const links = v.object({
  kind: v.literal('links'),
  ...about,
  date: v.string(),
  load: v.number(),
  ranks: v.array(
    v.object({
      rank: v.number(),
      oneWay: v.array(v.number()),
      beta: v.exactOptional(v.number()),
      ringBeta: v.number(),
      modelAlpha: v.number(),
      modelHostBeta: v.number(),
    }),
  ),
})
const line: v.GenericSchema<unknown, Line> = v.variant('kind', [sample, links])

/** @throws Error that names the line that is none */
export function parseLines(text: string, name: string): Line[] {
  return text
    .split('\n')
    .map((each, at) => ({ each, at }))
    .filter(({ each }) => each.trim() !== '')
    .map(({ each, at }) => {
      try {
        return v.parse(line, JSON.parse(each))
      } catch {
        throw new Error(`${name}, line ${at + 1} is not a line that the lab benchmark has written.`)
      }
    })
}

export const readLines = (name: string) => parseLines(readFileSync(name, 'utf8'), name)

export function reportFiles(names: readonly string[]): void {
  if (names.length === 0) throw new Error('Name the files that --out has written.')
  const lines = names.flatMap(readLines)
  for (const found of lines) if (found.kind === 'links') printLinks(found)
  const cells = summarize(lines.filter((each) => each.kind === 'sample'))
  for (const cell of cells) printCell(cell)
  printTotals(cells)
}
