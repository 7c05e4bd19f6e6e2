import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ArgumentError } from '../../../shared/base/errors.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import { createMemoryGroup } from '../../../shared/collective/memoryGroup.ts'
import type { Group } from '../../../shared/collective/types.ts'
import type { Aggregation } from '../../../shared/federated/aggregate.ts'
import {
  coordinateMedian,
  pullCentre,
  pullsOf,
  squaredDistances,
  trimmedMean,
} from '../../../shared/federated/robust.ts'
import { createRounds } from '../../../shared/federated/rounds.ts'
import type { Trainer } from '../../../shared/federated/roundTypes.ts'
import { loseOne } from './losing.ts'

const normals = (count: number, seed: number) => {
  const random = createPrng(seed)
  return Float32Array.from({ length: count }, () => random.next() * 2 - 1)
}

/** Median and trimmed mean as a textbook has them. */
const sorted = (rows: readonly Float32Array[], i: number) => rows.map((row) => row[i]!).sort((a, b) => a - b)
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const aggregations: Aggregation[] = [
  { kind: 'median' },
  { kind: 'trimmed-mean', trim: 0.3 },
  { kind: 'centred-clipping' },
]

/** A trainer whose update is given: every round adds it to a model of zeros. */
function createGiver(update: Float32Array): Trainer & { readonly model: Float32Array } {
  const model = new Float32Array(update.length)
  return {
    model,
    read: () => ({ w: model.slice() }),
    write: ({ w }) => model.set(w!),
    async train() {
      for (const [i, value] of update.entries()) model[i]! += value
      return { samples: 10 }
    },
  }
}

describe('element by element', () => {
  it('the median and the trimmed mean are those of the textbook', () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer(), (size, seed) => {
        const rows = Array.from({ length: size }, (_, rank) => normals(8, seed + rank))
        const [median, trimmed] = [coordinateMedian(rows, 8), trimmedMean(rows, 8, 0.3)]
        for (let i = 0; i < 8; i++) {
          const values = sorted(rows, i)
          const middle = (size - 1) >> 1
          expect(median[i]).toBe(Math.fround(mean(values.slice(middle, size - middle))))
          const cut = Math.min(Math.ceil(0.3 * size), middle)
          expect(trimmed[i]).toBe(Math.fround(mean(values.slice(cut, size - cut))))
        }
      }),
    ))

  it('what is not finite is not there', () => {
    const rows = [
      [1, Number.NaN],
      [3, Number.NaN],
      [Number.POSITIVE_INFINITY, Number.NaN],
    ].map((row) => Float32Array.from(row))
    expect([...coordinateMedian(rows, 2)]).toEqual([2, 0])
    expect([...pullsOf([4, Number.NaN, 16], undefined)]).toEqual([0.5, 0, 0.25])
  })
})

describe('centred clipping', () => {
  it('follows eq. 6 of Karimireddy et al.', () => {
    const rows = [0, 1, 2].map((rank) => normals(5, rank))
    const centre = normals(5, 9)
    const radius = 0.7
    const expected = [...centre]
    for (const row of rows) {
      const distance = Math.sqrt(row.reduce((sum, value, i) => sum + (value - centre[i]!) ** 2, 0))
      for (let i = 0; i < 5; i++)
        expected[i]! += (Math.min(1, radius / distance) * (row[i]! - centre[i]!)) / 3
    }
    const next = pullCentre(rows, centre, pullsOf(squaredDistances(rows, centre), radius))
    for (const [i, value] of next.entries()) expect(value).toBeCloseTo(expected[i]!, 6)
  })
})

describe('robust rounds', () => {
  it.each([1, 2, 4, 7])('give %i peers one result, near that of the honest', async (size) => {
    for (const aggregate of aggregations) {
      const groups = await createMemoryGroup(size, { measure: false })
      const poisoners = size < 3 ? 0 : Math.floor((size - 1) / 3)
      const givers = groups.map((_, rank) => {
        const honest = normals(50, rank).map((value) => 1 + 0.1 * value)
        return createGiver(rank < poisoners ? honest.map((value) => -10 * value) : honest)
      })
      const results = await Promise.all(
        groups.map((group, rank) => createRounds(group, givers[rank]!, { rounds: 1, aggregate }).run()),
      )
      for (const { model } of givers) {
        expect(model).toEqual(givers[0]!.model)
        expect(Math.abs(mean([...model]) - 1)).toBeLessThan(0.25)
      }
      expect(results[0]!.rounds[0]!.peers.map(({ share }) => share)).toEqual(groups.map(() => 1 / size))
    }
  })

  it('are carried away by nobody where the mean is', async () => {
    const outcome = async (aggregate: Aggregation) => {
      const groups = await createMemoryGroup(7, { measure: false })
      const givers = groups.map((_, rank) => createGiver(new Float32Array(20).fill(rank < 2 ? -10 : 1)))
      await Promise.all(
        groups.map((group, rank) => createRounds(group, givers[rank]!, { rounds: 2, aggregate }).run()),
      )
      return givers[0]!.model[0]!
    }
    expect(await outcome('mean')).toBeLessThan(-4)
    for (const aggregate of aggregations.slice(0, 2)) expect(await outcome(aggregate)).toBe(2)
    expect(await outcome(aggregations[2]!)).toBeGreaterThan(1)
  })

  it('clip around the aggregate of the round before', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const givers = groups.map(() => createGiver(new Float32Array([10, 0, 0])))
    const aggregate = { kind: 'centred-clipping', radius: 1, iterations: 1 } as const
    await Promise.all(
      groups.map((group, rank) => createRounds(group, givers[rank]!, { rounds: 2, aggregate }).run()),
    )
    // From 0 to 1, then from 1 to 2.
    for (const { model } of givers) {
      expect(model[0]).toBeCloseTo(1 + 2, 6)
      expect([...model.subarray(1)]).toEqual([0, 0])
    }
  })

  it('send as many bytes as a mean', async () => {
    const count = 20_000
    const bytesOf = async (aggregate: Aggregation) => {
      const groups = await createMemoryGroup(4, { measure: false })
      const results = await Promise.all(
        groups.map((group, rank) =>
          createRounds(group, createGiver(normals(count, rank)), { rounds: 1, aggregate }).run(),
        ),
      )
      return Math.max(...results.map(({ rounds }) => rounds[0]!.bytesSent)) / (4 * count)
    }
    // 2 (P - 1) / P, and the meetings.
    for (const aggregate of ['mean', ...aggregations] as const)
      expect(await bytesOf(aggregate), JSON.stringify(aggregate)).toBeCloseTo(1.5, 1)
  })

  it('refuse parameters that make no sense', async () => {
    const [group] = (await createMemoryGroup(1)) as [Group]
    const wrong: Aggregation[] = [
      { kind: 'trimmed-mean', trim: 0.5 },
      { kind: 'centred-clipping', radius: 0 },
      { kind: 'centred-clipping', iterations: 0 },
    ]
    for (const aggregate of wrong)
      expect(() => createRounds(group, createGiver(new Float32Array(1)), { rounds: 1, aggregate })).toThrow(
        ArgumentError,
      )
  })

  it.each(Array.from({ length: 6 }, (_, seed) => seed))(
    'finish on all survivors with the same bits when a peer is lost at any message (seed %i)',
    async (seed) => {
      const { clock, groups, survivors, outcome } = await loseOne(seed, 400)
      const givers = groups.map((_, rank) => createGiver(normals(30, rank)))
      const aggregate = aggregations[seed % 3]!
      const results = await outcome(
        groups.map((group, rank) =>
          createRounds(group, givers[rank]!, { rounds: 3, aggregate, clock }).run(),
        ),
      )
      for (const [i, rank] of survivors.entries()) {
        expect(givers[rank]!.model).toEqual(givers[survivors[0]!]!.model)
        expect(results[i]!.rounds.map(({ peers }) => peers)).toEqual(
          results[0]!.rounds.map(({ peers }) => peers),
        )
      }
    },
  )
})
