/**
 * `npm run faults -- --scenarios 10000 --seed 1`: random scenarios with one to three faults each; `--grid`: every fault at every phase, for
 * P = 2..9 and every family. The last line is JSON {scenarios, violations, seed}. `--only SEED` replays one random scenario and tells what
 * happens in it (with `--grid`: one of the grid). `--share 1,4`: every fourth scenario, from the second on. `--times`: how long
 * the survivors of one fault take.
 *
 * `--real N`: N scenarios in real time, with peers in processes of their own that get SIGKILL and SIGSTOP, or with `--browser` in tabs; `--rooms`
 * says how many at once. With `--real`, `--only SEED` replays one of those. `--soak MINUTES`: a room whose peers come and go all the time.
 */
import { parseArgs } from 'node:util'
import { runReal } from '../real/main.ts'
import { soak } from '../real/soak.ts'
import { gridScenarios, randomScenario, type Scenario } from './scenario.ts'
import { messagesOf, simulate } from './simulate.ts'
import { times } from './times.ts'

const { values } = parseArgs({
  options: {
    scenarios: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    grid: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
    share: { type: 'string', default: '0,1' },
    real: { type: 'string' },
    browser: { type: 'boolean', default: false },
    soak: { type: 'string' },
    rooms: { type: 'string', default: '3' },
  },
})
const seed = Number(values.only ?? values.seed)
const count = values.only === undefined ? Number(values.real ?? values.scenarios) : 1
const rooms = Number(values.rooms)
if (![seed, count, rooms].every(Number.isSafeInteger) || count < 1 || rooms < 1) {
  console.error('--scenarios, --real, --rooms, --seed and --only take whole numbers.')
  process.exit(2)
}
if (values.soak !== undefined) {
  const minutes = Number(values.soak)
  if (!(minutes > 0)) {
    console.error('--soak takes a number of minutes.')
    process.exit(2)
  }
  process.exit((await soak(minutes, seed)) === 0 ? 0 : 1)
}
if (values.times) {
  for await (const row of times()) console.log(row)
  process.exit(0)
}
if (values.real !== undefined) {
  const isTraced = values.only !== undefined
  const broken = await runReal({ scenarios: count, seed, isBrowser: values.browser, rooms, isTraced })
  process.exit(broken === 0 ? 0 : 1)
}

function* random(): Generator<Scenario> {
  for (let i = 0; i < count; i++) yield randomScenario(seed + i)
}

const [at = 0, of = 1] = values.share.split(',').map(Number)
let index = 0
let scenarios = 0
let violations = 0
for await (const scenario of values.grid ? gridScenarios([2, 3, 4, 5, 6, 7, 8, 9], messagesOf) : random()) {
  if (index++ % of !== at || (values.grid && values.only !== undefined && scenario.seed !== seed)) continue
  scenarios++
  if (values.only !== undefined) console.log(JSON.stringify(scenario, undefined, 2))
  const verdict = await simulate(scenario, values.only === undefined ? {} : { trace: console.log })
  if (verdict.violations.length === 0) continue
  violations++
  console.log(`npm run faults -- ${values.grid ? '--grid ' : ''}--only ${scenario.seed}`)
  console.log(`  ${verdict.violations.join('\n  ')}`)
}
console.log(JSON.stringify({ scenarios, violations, seed }))
process.exitCode = violations === 0 ? 0 : 1
