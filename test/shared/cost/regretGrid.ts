/**
 * The whole grid of regrets: P in 2 .. 64, vectors of 8 B .. 64 MiB, three networks. Takes minutes.
 *   npx tsx test/shared/cost/regretGrid.ts [--measured] [P ...]
 */
import { classroom, internet, loopback, measureScenario, modelOf } from '../../../shared/cost/scenarios.ts'
import { regretOf } from './regret.ts'

const isMeasured = process.argv.includes('--measured')
const named = process.argv
  .slice(2)
  .map(Number)
  .filter((size) => size >= 2)
const sizes = named.length > 0 ? named : [2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64]
const vectors = [8, 425, 2048, 9216, 32768, 2 ** 17, 2 ** 20, 2 ** 23, 2 ** 26]

const all: number[] = []
console.log(`regret in %, columns: ${vectors.join(' ')} B`)
for (const scenario of [loopback, classroom, internet])
  for (const size of sizes) {
    const world = scenario(size)
    const model = isMeasured ? measureScenario(world) : modelOf(world)
    const found = vectors.map((bytes) => ({ bytes, ...regretOf(world, model, bytes) }))
    all.push(...found.map(({ regret }) => regret))
    console.log(
      `${world.name.padEnd(10)} P=${String(size).padEnd(3)} ${found.map(({ regret }) => (100 * regret).toFixed(2).padStart(6)).join('')}  (${found[0]!.candidates} candidates)`,
    )
    for (const { bytes, regret, chosen, best } of found)
      if (regret >= 0.02) console.log(`    ${bytes} B: ${chosen} instead of ${best}`)
  }
all.sort((a, b) => a - b)
const at = (part: number) => `${(100 * all[Math.floor(part * (all.length - 1))]!).toFixed(2)} %`
console.log(`${all.length} cells: median ${at(0.5)}, 90th percentile ${at(0.9)}, maximum ${at(1)}`)
