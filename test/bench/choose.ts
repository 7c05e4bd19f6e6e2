/**
 * `npm run bench -- choose`: the chosen schedule against the best of all candidates, both executed by the simulator, for P in
 * 2 .. 64, vectors of 8 B .. 64 MiB, three networks. Virtual time: the machine does not matter, only how long it takes.
 */
import { classroom, internet, loopback, measureScenario, modelOf } from '../../shared/cost/scenarios.ts'
import { regretOf } from '../support/regret.ts'

const allSizes = [2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64]
const vectors = [8, 425, 2048, 9216, 32768, 2 ** 17, 2 ** 20, 2 ** 23, 2 ** 26]

const percent = (regret: number) => (100 * regret).toFixed(2)

/** Median, 90th percentile and maximum, in percent. */
function summary(regrets: readonly number[]): string {
  const sorted = [...regrets].sort((a, b) => a - b)
  return [0.5, 0.9, 1].map((part) => percent(sorted[Math.floor(part * (sorted.length - 1))]!)).join(' | ')
}

/**
 * @param sizes default: the whole grid, which takes minutes
 * @param isMeasured the group knows of the network only what its probes told it
 */
export function choose(sizes: readonly number[] = allSizes, isMeasured = false): void {
  console.log(`# Regret in %: how much longer the chosen schedule takes than the best of all`)
  console.log(`| network | P | ${vectors.join(' B | ')} B | candidates |`)
  console.log(`| --- | --- |${' --- |'.repeat(vectors.length + 1)}`)
  const rows: [string, number[]][] = []
  const notes: string[] = []
  for (const scenario of [loopback, classroom, internet]) {
    const all: number[] = []
    for (const size of sizes) {
      const world = scenario(size)
      const model = isMeasured ? measureScenario(world) : modelOf(world)
      const cells = vectors.map((bytes) => ({ bytes, ...regretOf(world, model, bytes) }))
      const figures = cells.map(({ regret }) => percent(regret))
      console.log(`| ${[world.name, size, ...figures, cells[0]!.candidates].join(' | ')} |`)
      for (const { bytes, regret, chosen, best } of cells) {
        all.push(regret)
        if (regret >= 0.02) notes.push(`${world.name} P=${size} ${bytes} B: ${chosen} instead of ${best}`)
      }
    }
    rows.push([scenario(2).name, all])
  }
  rows.push(['all', rows.flatMap(([, regrets]) => regrets)])
  console.log('\n| network | cells | median, % | 90th percentile, % | maximum, % |')
  console.log('| --- | --- | --- | --- | --- |')
  for (const [name, regrets] of rows) console.log(`| ${name} | ${regrets.length} | ${summary(regrets)} |`)
  for (const note of notes) console.log(note)
}
