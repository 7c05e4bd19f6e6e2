import { describe, expect, it } from 'vitest'
import { known } from './known.ts'
import { faultKinds, gridScenarios, randomScenario } from './scenario.ts'
import { messagesOf, simulate } from './simulate.ts'

/** The whole grid and thousands of random scenarios: `npm run faults`. Here a part of them that changes with nothing but the code. */
describe('faults', () => {
  for (const kind of faultKinds)
    it(`${kind}: the survivors end every op alike, with every contribution once`, async () => {
      // A stride without a common factor with the lengths of the grid: all sizes, families and moments come up.
      for await (const scenario of gridScenarios([2, 3, 4, 5, 7, 8], messagesOf, [kind])) {
        if (scenario.seed % 113 !== 0) continue
        const { violations } = await simulate(scenario)
        expect(violations, `npm run faults -- --grid --only ${scenario.seed}`).toEqual([])
      }
    })

  it('several at once, at random', async () => {
    for (let seed = 1; seed <= 15; seed++) {
      const { violations } = await simulate(randomScenario(seed))
      expect(violations, `npm run faults -- --only ${seed}`).toEqual([])
    }
  })

  for (const [name, scenario] of Object.entries(known))
    it(name, async () => {
      const { violations } = await simulate(scenario)
      expect(violations).toEqual([])
    })
})
