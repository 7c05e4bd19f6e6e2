import { describe, expect, it } from 'vitest'
import { known } from './known.ts'
import { faultKinds, gridScenarios, randomScenario } from './scenario.ts'
import { simulate } from './simulate.ts'

/** The whole grid and thousands of random scenarios: `npm run faults`. Here a part of them that changes with nothing but the code. */
describe('faults', () => {
  for (const kind of faultKinds)
    it(`${kind}: the survivors end every op alike, with every contribution once`, async () => {
      const all = [...gridScenarios([2, 3, 4, 5, 7, 8], 5)].filter(({ faults }) => faults[0]!.kind === kind)
      // A stride without a common factor with the lengths of the grid: all sizes, families and phases come up.
      for (let i = 0; i < all.length; i += 37) {
        const scenario = all[i]!
        const { violations } = await simulate(scenario)
        expect(violations, JSON.stringify(scenario)).toEqual([])
      }
    })

  it('several at once, at random', async () => {
    // 339: a member that stood still comes back for a result of which its link was lost meanwhile.
    for (const seed of [...Array.from({ length: 25 }, (_, i) => i + 1), 339]) {
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
