/** docs/algorithms.md has a word on every algorithm, and its tables are those of the schedules as they are. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { guidePath, renderTables } from '../../docs/generate.ts'
import { algorithms } from '../../shared/schedule/registry.ts'

const guide = readFileSync(guidePath, 'utf8')

test('the tables are current (else: npx tsx docs/generate.ts)', () => {
  expect(guide).toBe(renderTables(guide))
})

test('every algorithm is described outside of the tables', () => {
  const prose = guide.replace(/<!-- table: [\s\S]*?<!-- end -->/g, '')
  const undescribed = algorithms.filter(({ name }) => !prose.includes(`\`${name}\``))
  expect(undescribed.map(({ name }) => name)).toEqual([])
})

test('a table that nobody makes is an error', () => {
  expect(() => renderTables('<!-- table: allreduce 5000 -->\n<!-- end -->')).toThrow(/allreduce 5000/)
})
