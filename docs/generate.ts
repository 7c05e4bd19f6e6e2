/**
 * Writes the tables and figures of docs/algorithms.md from the schedules themselves: `npx tsx docs/generate.ts`.
 * A table stands between `<!-- table: name -->` and `<!-- end -->`; a test checks that what is committed is current.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { collectives } from '../shared/schedule/collectives.ts'
import { countTable, registryTable } from './countTables.ts'
import { figures } from './figures.ts'
import { numberTables } from './numberTables.ts'
import { paperTables } from './paperTables.ts'

/** What may stand after `<!-- table: `. */
const tables: Readonly<Record<string, () => string>> = {
  registry: registryTable,
  ...paperTables,
  ...numberTables,
  ...Object.fromEntries([7, 8, 31].map((size) => [`allreduce ${size}`, () => countTable('allreduce', size)])),
  ...Object.fromEntries(collectives.slice(1).map((name) => [name, () => countTable(name, 7)])),
}

/** The guide with all its tables made anew. */
export function renderTables(guide: string): string {
  return guide.replace(/<!-- table: (.*?) -->[\s\S]*?<!-- end -->/g, (_, name: string) => {
    const make = tables[name]
    if (!make) throw new Error(`There is no table "${name}"; there are ${Object.keys(tables).join(', ')}`)
    return `<!-- table: ${name} -->\n${make()}\n<!-- end -->`
  })
}

export const imagesPath = join(import.meta.dirname, 'images')
export const guidePath = join(import.meta.dirname, 'algorithms.md')
export const numbersPath = join(import.meta.dirname, 'numbers.md')

if (process.argv[1] === import.meta.filename) {
  for (const path of [guidePath, numbersPath]) writeFileSync(path, renderTables(readFileSync(path, 'utf8')))
  for (const [name, draw] of Object.entries(figures)) writeFileSync(join(imagesPath, name), draw())
}
