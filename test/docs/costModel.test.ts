/** docs/cost-model.md: its tables are what the model says, and its network file is one. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readNetwork } from '../../client/cli/network.ts'
import { costGuidePath, renderCostTables } from '../../docs/costTables.ts'
import { curveTime } from '../../shared/cost/curve.ts'
import { blocksOf } from './markdown.ts'

const guide = readFileSync(costGuidePath, 'utf8')

test('the tables are current (else: npx tsx docs/costTables.ts)', () => {
  expect(guide).toBe(renderCostTables(guide))
})

test('a table that nobody makes is an error', () => {
  expect(() => renderCostTables('<!-- table: nothing -->\n<!-- end -->')).toThrow(/nothing/)
})

test('the network file can be read', () => {
  const [block] = blocksOf('docs/cost-model.md').filter(({ language }) => language === 'json')
  const model = readNetwork(block!.code)
  expect(model.size).toBe(3)
  expect(curveTime(model.links[0]![2]!, 32)).toBe(0.02)
  expect(model.links[1]![2]!.alpha).toBeCloseTo(5e-4, 9)
})
