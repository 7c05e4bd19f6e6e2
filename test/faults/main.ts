/**
 * `npm run faults -- --scenarios 10000 --seed 1`: random scenarios with one to three faults each. The last line is JSON
 * {scenarios, violations, seed}. `--only SEED` replays one scenario and prints it.
 */
import { parseArgs } from 'node:util'
import { randomScenario } from './scenario.ts'
import { simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    scenarios: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
})
const first = Number(values.only ?? values.seed)
const scenarios = values.only === undefined ? Number(values.scenarios) : 1
let violations = 0
for (let seed = first; seed < first + scenarios; seed++) {
  const scenario = randomScenario(seed)
  if (values.only !== undefined) console.log(JSON.stringify(scenario, undefined, 2))
  const verdict = await simulate(scenario, values.only === undefined ? {} : { trace: console.log })
  if (verdict.violations.length === 0) continue
  violations++
  console.log(`seed ${seed}: ${verdict.violations.join('\n  ')}`)
}
console.log(JSON.stringify({ scenarios, violations, seed: first }))
process.exitCode = violations === 0 ? 0 : 1
