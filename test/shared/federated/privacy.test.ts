import { describe, expect, it } from 'vitest'
import { ArgumentError } from '../../../shared/base/errors.ts'
import { createMemoryGroup } from '../../../shared/collective/memoryGroup.ts'
import { clipTo, epsilonOf, gaussians, makePrivate } from '../../../shared/federated/privacy.ts'
import { createRounds } from '../../../shared/federated/rounds.ts'
import { createLine } from './leastSquares.ts'
import { createTestSecrets } from './secrets.ts'

describe('epsilon', () => {
  it('is the least over all orders, to three digits of a fine search', () => {
    for (const [noise, rounds, delta] of [
      [1, 1, 1e-5],
      [4, 20, 1e-5],
      [0.5, 3, 1e-6],
      [30, 1000, 1e-9],
    ] as const) {
      let best = Number.POSITIVE_INFINITY
      for (let a = 1.001; a < 20_000; a *= 1.001)
        best = Math.min(
          best,
          (rounds * a) / (2 * noise ** 2) + Math.log(1 - 1 / a) - Math.log(delta * a) / (a - 1),
        )
      const epsilon = epsilonOf({ noise, rounds, delta })
      expect(epsilon).toBeGreaterThanOrEqual(best * 0.999)
      expect(epsilon).toBeLessThan(best * 1.01)
    }
  })

  it('is below the closed form of Mironov, 1 + 2 sqrt(rho log 1/delta), and grows with rounds and falls with noise', () => {
    const rho = 10 / 2
    expect(epsilonOf({ noise: 1, rounds: 10, delta: 1e-5 })).toBeLessThan(
      rho + 2 * Math.sqrt(rho * Math.log(1e5)),
    )
    expect(epsilonOf({ noise: 1, rounds: 20 })).toBeGreaterThan(epsilonOf({ noise: 1, rounds: 10 }))
    expect(epsilonOf({ noise: 2, rounds: 10 })).toBeLessThan(epsilonOf({ noise: 1, rounds: 10 }))
    // Four honest peers under a secure sum are as good as twice the noise.
    expect(epsilonOf({ noise: 1, rounds: 10, honest: 4 })).toBe(epsilonOf({ noise: 2, rounds: 10 }))
    expect(epsilonOf({ noise: 0, rounds: 1 })).toBe(Number.POSITIVE_INFINITY)
    expect(epsilonOf({ noise: 1, rounds: 0 })).toBe(0)
  })
})

describe('noise', () => {
  it('is normal: mean, deviation, and tails', () => {
    const values = gaussians(100_001, createTestSecrets(1))
    expect(values.length).toBe(100_001)
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
    expect(Math.abs(mean)).toBeLessThan(0.015)
    expect(Math.abs(variance - 1)).toBeLessThan(0.02)
    for (const [limit, share] of [
      [1, 0.3173],
      [2, 0.0455],
      [3, 0.0027],
    ] as const)
      expect(values.filter((value) => Math.abs(value) > limit).length / values.length).toBeCloseTo(share, 2)
  })

  it('clips to the norm and no further, and has the stated deviation', () => {
    const long = new Float32Array([3, 4])
    clipTo(long, 1)
    expect([...long]).toEqual([Math.fround(0.6), Math.fround(0.8)])
    clipTo(long, 2)
    expect([...long]).toEqual([Math.fround(0.6), Math.fround(0.8)])
    const update = new Float32Array(50_000)
    makePrivate(update, { clip: 0.5, noise: 2 }, createTestSecrets(2))
    const variance = update.reduce((sum, value) => sum + value ** 2, 0) / update.length
    expect(variance).toBeCloseTo(1, 1)
  })
})

describe('private rounds', () => {
  it('state their epsilon, and stay the same on all peers', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const lines = groups.map(() => createLine(0, [[1, 1]]))
    const privacy = { clip: 0.1, noise: 1.5 }
    const results = await Promise.all(
      groups.map((group, rank) =>
        createRounds(group, lines[rank]!, { rounds: 4, privacy, secrets: createTestSecrets(rank) }).run(),
      ),
    )
    expect(results[0]!.rounds.map(({ epsilon }) => epsilon)).toEqual(
      [1, 2, 3, 4].map((rounds) => epsilonOf({ noise: 1.5, rounds })),
    )
    expect(new Set(lines.map(({ weight }) => weight[0])).size).toBe(1)
  })

  it('clip every update and cover it with noise before they tell of it', async () => {
    const normsWith = async (noise: number) => {
      const groups = await createMemoryGroup(3, { measure: false })
      const privacy = { clip: 0.1, noise }
      const [first] = await Promise.all(
        groups.map((group, rank) =>
          createRounds(group, createLine(0, [[1, 10 + rank]]), {
            rounds: 1,
            privacy,
            secrets: createTestSecrets(rank),
          }).run(),
        ),
      )
      return first!.rounds[0]!.peers.map(({ norm }) => norm)
    }
    for (const norm of await normsWith(0)) expect(norm).toBeCloseTo(0.1, 6)
    expect(new Set((await normsWith(1)).map((norm) => norm.toFixed(4))).size).toBe(3)
  })

  it('refuse numbers that protect nothing', async () => {
    const [group] = await createMemoryGroup(1)
    const make = (privacy: { clip: number; noise: number; delta?: number }) =>
      createRounds(group!, createLine(0, [[1, 1]]), { rounds: 1, privacy, secrets: createTestSecrets(1) })
    for (const privacy of [
      { clip: 0, noise: 1 },
      { clip: 1, noise: -1 },
      { clip: 1, noise: 1, delta: 1 },
    ])
      expect(() => make(privacy)).toThrow(ArgumentError)
  })
})
