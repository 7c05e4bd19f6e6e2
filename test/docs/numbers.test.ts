/** docs/numbers.md: the tables of types, operators and wires are those of the code. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { numbersPath, renderTables } from '../../docs/generate.ts'

test('the tables are current (else: npx tsx docs/generate.ts)', () => {
  const guide = readFileSync(numbersPath, 'utf8')
  expect(guide).toBe(renderTables(guide))
})
