/** docs/algorithms.md has a word on every algorithm, and its tables and figures are those of the schedules as they are. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { figures } from '../../docs/figures.ts'
import { guidePath, imagesPath, renderTables } from '../../docs/generate.ts'
import { algorithms } from '../../shared/schedule/registry.ts'

const guide = readFileSync(guidePath, 'utf8')

test('the tables are current (else: npx tsx docs/generate.ts)', () => {
  expect(guide).toBe(renderTables(guide))
})

test.each(Object.entries(figures))(
  '%s is current (else: npx tsx docs/generate.ts) and shown',
  (name, draw) => {
    expect(readFileSync(join(imagesPath, name), 'utf8')).toBe(draw())
    expect(guide).toContain(`(images/${name})`)
  },
)

test('every algorithm is described outside of the tables', () => {
  const prose = guide.replace(/<!-- table: [\s\S]*?<!-- end -->/g, '')
  const undescribed = algorithms.filter(({ name }) => !prose.includes(`\`${name}\``))
  expect(undescribed.map(({ name }) => name)).toEqual([])
})

test('a table that nobody makes is an error', () => {
  expect(() => renderTables('<!-- table: allreduce 5000 -->\n<!-- end -->')).toThrow(/allreduce 5000/)
})
