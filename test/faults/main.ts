/**
 * `npm run faults -- --scenarios 10000 --seed 1`: random scenarios with one to three faults each; `--grid`: every fault at every phase, for
 * P = 2..9 and every family. The last line is JSON {scenarios, violations, seed}. `--only SEED` replays one random scenario and tells what
 * happens in it.
 */
import { parseArgs } from 'node:util'
import { gridScenarios, randomScenario, type Scenario } from './scenario.ts'
import { simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    scenarios: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    grid: { type: 'boolean', default: false },
  },
})
const seed = Number(values.only ?? values.seed)
const count = values.only === undefined ? Number(values.scenarios) : 1
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(count) || count < 1) {
  console.error('--scenarios, --seed and --only take whole numbers.')
  process.exit(2)
}

function* random(): Generator<Scenario> {
  for (let i = 0; i < count; i++) yield randomScenario(seed + i)
}

let scenarios = 0
let violations = 0
for (const scenario of values.grid ? gridScenarios([2, 3, 4, 5, 6, 7, 8, 9], 5) : random()) {
  scenarios++
  if (values.only !== undefined) console.log(JSON.stringify(scenario, undefined, 2))
  const verdict = await simulate(scenario, values.only === undefined ? {} : { trace: console.log })
  if (verdict.violations.length === 0) continue
  violations++
  const which = values.grid ? JSON.stringify(scenario) : `seed ${scenario.seed}`
  console.log(`${which}: ${verdict.violations.join('\n  ')}`)
}
console.log(JSON.stringify({ scenarios, violations, seed }))
process.exitCode = violations === 0 ? 0 : 1
