import { describe, expect, it } from 'vitest'
import { webSecrets } from '../../../client/federated/secrets.ts'
import { UnsupportedError } from '../../../shared/base/errors.ts'
import { createMemoryGroup } from '../../../shared/collective/memoryGroup.ts'
import { createRounds } from '../../../shared/federated/rounds.ts'
import { fixedPointScale } from '../../../shared/federated/secure.ts'
import { createLine } from './leastSquares.ts'
import { loseOne } from './losing.ts'
import { createTestSecrets } from './secrets.ts'

const pointsOf = (slope: number) =>
  Array.from({ length: 5 * slope }, (_, i) => [i / 10, (slope * i) / 10] as const)

describe('fixed point', () => {
  it('uses as many bits as the sum of all leaves, and never more', () => {
    for (const bound of [1e-6, 0.3, 1, 1e5])
      for (const size of [3, 7, 100]) {
        const scale = fixedPointScale(bound, size)
        expect(size * Math.round(scale * bound)).toBeLessThan(2 ** 31)
        expect(size * scale * bound).toBeGreaterThan(2 ** 29)
      }
    expect(fixedPointScale(0, 3)).toBe(1)
  })
})

describe('secure aggregation', () => {
  it.each([3, 6])('gives %i peers the mean that they would get without it', async (size) => {
    const run = async (aggregate: 'mean' | 'secure') => {
      const groups = await createMemoryGroup(size, { measure: false })
      const lines = groups.map((_, rank) => createLine(0, pointsOf(rank + 1)))
      const results = await Promise.all(
        groups.map((group, rank) =>
          createRounds(group, lines[rank]!, {
            rounds: 3,
            aggregate,
            learningRate: 0.5,
            secrets: webSecrets,
          }).run(),
        ),
      )
      expect(new Set(results.map(({ rounds }) => rounds[2]!.hash)).size).toBe(1)
      return lines.map(({ weight }) => weight[0]!)
    }
    const [plain, secure] = [await run('mean'), await run('secure')]
    for (const weight of secure) expect(weight).toBe(secure[0])
    expect(secure[0]! / plain[0]!).toBeCloseTo(1, 6)
  })

  it('shows nobody an update: what is sent is spread over all 32-bit numbers, whatever is under it', async () => {
    // Capture what each peer gives to the masked sum.
    const groups = await createMemoryGroup(3, { measure: false })
    const sent: Int32Array[] = []
    for (const group of groups) {
      const { allreduce } = group
      group.allreduce = (data, options) => {
        if (options?.name === 'round: masked sum') sent.push((data as Int32Array).slice())
        return allreduce.call(group, data, options) as never
      }
    }
    const wide = groups.map(() => ({
      values: new Float32Array(4000),
      read() {
        return { w: this.values.slice() }
      },
      write(tensors: Readonly<Record<string, ArrayLike<number>>>) {
        this.values.set(tensors.w!)
      },
      async train() {
        this.values.fill(0.001)
        return { samples: 1 }
      },
    }))
    await Promise.all(
      groups.map((group, rank) =>
        createRounds(group, wide[rank]!, { rounds: 1, aggregate: 'secure', secrets: webSecrets }).run(),
      ),
    )
    expect(sent.length).toBe(3)
    for (const vector of sent) {
      const quarters = [0, 0, 0, 0]
      for (const value of vector) quarters[Math.floor((value + 2 ** 31) / 2 ** 30)]!++
      // 1000 each, deviation 27.
      for (const count of quarters) expect(Math.abs(count - 1000)).toBeLessThan(200)
    }
    for (const { values } of wide) expect(values[17]).toBeCloseTo(0.001, 8)
  })

  it('refuses to hide an update among fewer than three', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const ends = await Promise.allSettled(
      groups.map((group) =>
        createRounds(group, createLine(0, pointsOf(1)), {
          rounds: 1,
          aggregate: 'secure',
          secrets: webSecrets,
        }).run(),
      ),
    )
    for (const end of ends) expect(end.status === 'rejected' && end.reason).toBeInstanceOf(UnsupportedError)
  })

  it.each(Array.from({ length: 5 }, (_, seed) => seed))(
    'begins again among the survivors when a peer is lost at any message (seed %i)',
    async (seed) => {
      const { clock, groups, survivors, outcome } = await loseOne(seed, 400)
      const lines = groups.map((_, rank) => createLine(0, pointsOf(rank + 1)))
      const results = await outcome(
        groups.map((group, rank) => {
          const secrets = createTestSecrets(100 * seed + rank)
          return createRounds(group, lines[rank]!, { rounds: 3, aggregate: 'secure', clock, secrets }).run()
        }),
      )
      for (const rank of survivors) expect(lines[rank]!.weight[0]).toBe(lines[survivors[0]!]!.weight[0])
      for (const { rounds } of results)
        expect(rounds.map(({ peers }) => peers)).toEqual(results[0]!.rounds.map(({ peers }) => peers))
      // A mask that did not vanish would have thrown the weight far out.
      expect(lines[survivors[0]!]!.weight[0]).toBeGreaterThan(0)
      expect(lines[survivors[0]!]!.weight[0]).toBeLessThan(5)
    },
  )
})

describe('web secrets', () => {
  it('give both sides the same stream, and another for other words and other keys', async () => {
    const [a, b, c] = await Promise.all([1, 2, 3].map(() => webSecrets.createKeyPair()))
    const stream = await a!.stream(b!.publicKey, 'x', 100)
    expect(await b!.stream(a!.publicKey, 'x', 100)).toEqual(stream)
    expect(await b!.stream(a!.publicKey, 'y', 100)).not.toEqual(stream)
    expect(await a!.stream(c!.publicKey, 'x', 100)).not.toEqual(stream)
    await expect(a!.stream(new Uint8Array(31), 'x', 4)).rejects.toThrow()
  })

  it('give as much randomness as is asked for', () => {
    const bytes = webSecrets.randomBytes(200_000)
    expect(bytes.length).toBe(200_000)
    expect(bytes.subarray(190_000).some((byte) => byte !== 0)).toBe(true)
  })
})
