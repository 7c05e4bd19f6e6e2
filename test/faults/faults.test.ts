import { describe, expect, it } from 'vitest'
import { type Fault, faultKinds, gridScenarios, randomScenario, type Scenario } from './scenario.ts'
import { defaultLimits, messagesOf, simulate } from './simulate.ts'

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
})

/** With the limits that group and server have by default. */
describe('what a fault costs', () => {
  const strike = async (
    faults: (Pick<Fault, 'kind' | 'seconds'> & Partial<Fault>)[],
    more: Partial<Scenario> = {},
  ) => {
    const family = { algorithm: 'ring', settings: {} }
    const scenario: Scenario = {
      seed: 1,
      size: 4,
      count: 257,
      ops: Array(4).fill(family),
      measures: false,
      pauseSeconds: 0.5,
      faults: faults.map((fault) => ({ rank: 1, other: 2, phase: 'running', afterMessages: 20, ...fault })),
      ...more,
    }
    const verdict = await simulate(scenario, { limits: defaultLimits })
    expect(verdict.violations).toEqual([])
    return verdict
  }

  it('a thread that is busy for 2 s is no death', async () => {
    for (const afterMessages of [1, 20, 40])
      expect((await strike([{ kind: 'freeze', seconds: 2, afterMessages }])).out).toEqual([])
  })

  it('a killed process costs the survivors less than 2 s', async () => {
    const { out, seconds } = await strike([{ kind: 'crash', seconds: 4 }], { pauseSeconds: 0 })
    expect(out).toEqual(['p1'])
    expect(seconds).toBeLessThan(2)
  })

  it('a peer without network costs them 5 s', async () => {
    const { out, seconds } = await strike([{ kind: 'crash', seconds: 0 }], { pauseSeconds: 0 })
    expect(out).toEqual(['p1'])
    expect(seconds).toBeLessThan(5)
  })

  it('a closed tab costs them less than a second', async () => {
    const { seconds } = await strike([{ kind: 'close', seconds: 0 }], { pauseSeconds: 0 })
    expect(seconds).toBeLessThan(1)
  })

  it('a server that is away costs nothing', async () => {
    const calm = await strike([{ kind: 'slow', seconds: 0, afterMessages: 1e9 }], { pauseSeconds: 0 })
    expect(calm.out).toEqual([])
    const { out, seconds } = await strike([{ kind: 'outage', seconds: 20 }], { pauseSeconds: 0 })
    expect(out).toEqual([])
    expect(seconds).toBeLessThan(1)
  })

  it('a peer that is lost while the server is away is put out when it is back, and the op ends with the others', async () => {
    const faults = [
      { kind: 'outage', seconds: 5 },
      { kind: 'close', seconds: 0, afterMessages: 25 },
    ] as const
    const { out, seconds } = await strike([...faults], { pauseSeconds: 0 })
    expect(out).toEqual(['p1'])
    expect(seconds).toBeLessThan(5 + defaultLimits.graceSeconds + 1)
  })

  it('a pair that cannot have a link goes through a neighbour, and nobody is put out', async () => {
    const { out, seconds } = await strike([{ kind: 'cut', seconds: 1000 }], { pauseSeconds: 0 })
    expect(out).toEqual([])
    expect(seconds).toBeLessThan(1)
  })
})
