import { describe, expect, it } from 'vitest'
import { classroom, internet, loopback, measureScenario, modelOf } from '../../../shared/cost/scenarios.ts'
import { regretOf } from '../../support/regret.ts'

/** A part of the grid that `npm run bench -- choose` walks in full. */
const scenarios = [loopback, classroom, internet]
const sizes = [2, 3, 5, 7, 8, 12, 17]
const vectors = [8, 425, 9216, 65536, 2 ** 20, 2 ** 23]

describe('the chosen schedule, executed in virtual time', () => {
  it('is the best of all, or within 2 %, on a network that is known', () => {
    const regrets = scenarios.flatMap((scenario) =>
      sizes.flatMap((size) => {
        const world = scenario(size)
        const model = modelOf(world)
        return vectors.map((bytes) => {
          const { regret, chosen, best } = regretOf(world, model, bytes)
          expect(regret, `${world.name} P=${size} ${bytes} B: ${chosen} instead of ${best}`).toBeLessThan(
            0.02,
          )
          return regret
        })
      }),
    )
    regrets.sort((a, b) => a - b)
    expect(regrets[regrets.length >> 1]).toBeLessThan(1e-9)
  })

  it('is close to the best where the network was measured with noise', () => {
    for (const scenario of scenarios) {
      const world = scenario(6)
      const model = measureScenario(world, 0.1, 7)
      for (const bytes of [425, 65536, 2 ** 20, 2 ** 23]) {
        const { regret, chosen, best } = regretOf(world, model, bytes)
        expect(regret, `${world.name} ${bytes} B: ${chosen} instead of ${best}`).toBeLessThan(0.15)
      }
    }
  })
})
