import { describe, expect, test } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { contractOf } from '../../../shared/schedule/collectives.ts'
import { chunkBounds } from '../../../shared/schedule/partition.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'
import type { Algorithm, Schedule, Settings } from '../../../shared/schedule/types.ts'
import { interpret } from '../../support/interpret.ts'
import { caseName, spread } from '../../support/schedules.ts'

/** A value of every element for every length of a vector that is likely to go wrong. */
function lengths(size: number): number[] {
  return [...new Set([0, 1, size - 1, size, size + 1, 2 * size + 1, 1009])]
}

/**
 * All vectors of a rank at once, chunk by chunk: the value of a chunk is the list of its pieces, one per length. The fold
 * is elementwise anyway.
 */
function cutAll(schedule: Schedule, vectors: readonly (readonly number[])[]): number[][][] {
  const bounds = vectors.map((vector) => chunkBounds(schedule, vector.length))
  return Array.from({ length: schedule.chunks }, (_, chunk) =>
    vectors.map((vector, at) => vector.slice(bounds[at]![chunk], bounds[at]![chunk + 1])),
  )
}

/** Runs the schedule on random integers and compares with a plain loop over the ranks. */
function checkValues(algorithm: Algorithm, size: number, settings: Settings, seed: number): void {
  const name = `${caseName(algorithm, size, settings)}, seed ${seed}`
  const schedule = buildSchedule(algorithm, size, settings)
  const contract = contractOf(schedule)
  const prng = createPrng(seed)
  const inputs = Array.from({ length: size }, () =>
    cutAll(
      schedule,
      lengths(size).map((length) => Array.from({ length }, () => prng.below(2 ** 20) - 2 ** 19)),
    ),
  )
  const fold = algorithm.restrictions.idempotent ? Math.max : (a: number, b: number) => a + b
  const combine = (left: number[][], right: number[][]) =>
    left.map((piece, length) => piece.map((value, at) => fold(value, right[length]![at]!)))

  const expected = Array.from({ length: schedule.chunks }, (_, chunk) => {
    const source = contract.source(chunk)
    return source === undefined ? inputs.map((own) => own[chunk]!).reduce(combine) : inputs[source]![chunk]!
  })
  const results = interpret(schedule, (rank, chunk) => inputs[rank]![chunk]!, combine)
  for (let rank = 0; rank < size; rank++) {
    const needed = expected.filter((_, chunk) => contract.needs(rank, chunk))
    expect(results[rank], `${name}, rank ${rank}`).toEqual(needed)
  }
}

describe.each(
  algorithms.map((algorithm) => [`${algorithm.collective} ${algorithm.name}`, algorithm] as const),
)('%s', (_, algorithm) => {
  test('equals a plain loop, element by element, for all lengths', () => {
    for (const size of [...Array(17).keys()].map((index) => index + 1))
      for (const settings of spread(algorithm.variants(size), size <= 8 ? 12 : 4))
        checkValues(algorithm, size, settings, size)
    for (const size of [24, 31, 33])
      checkValues(algorithm, size, spread(algorithm.variants(size), 2)[1] ?? {}, size)
  })

  test('keeps the order of operands that do not commute, where it says so', () => {
    for (let size = 1; size <= 16; size++) {
      const words = Array.from({ length: size }, (_, rank) => `${rank} `).join('')
      for (const settings of spread(algorithm.variants(size), 12)) {
        if (!algorithm.ordered(size, settings)) continue
        const schedule = buildSchedule(algorithm, size, settings)
        const { source } = contractOf(schedule)
        const results = interpret(
          schedule,
          (rank) => `${rank} `,
          (left, right) => left + right,
        )
        const expected = new Set(
          Array.from({ length: schedule.chunks }, (_, chunk) => source(chunk)).map((rank) =>
            rank === undefined ? words : `${rank} `,
          ),
        )
        for (const text of results.flat())
          expect(expected, caseName(algorithm, size, settings)).toContain(text)
      }
    }
  })
})

/** How many different float32 results the ranks have of one chunk, at most. */
function distinctSums(algorithm: Algorithm, size: number, settings: Settings): number {
  const schedule = buildSchedule(algorithm, size, settings)
  const prng = createPrng(size)
  const data = Array.from({ length: size }, () =>
    Array.from({ length: schedule.chunks * 8 }, () => Math.fround((prng.next() - 0.5) * 10 ** prng.below(7))),
  )
  const results = interpret(
    schedule,
    (rank, chunk) => data[rank]!.slice(8 * chunk, 8 * chunk + 8),
    (left, right) => left.map((value, at) => Math.fround(value + right[at]!)),
  )
  const { needs } = contractOf(schedule)
  const distinct = Array.from({ length: schedule.chunks }, () => new Set<string>())
  for (const [rank, values] of results.entries()) {
    const chunks = distinct.filter((_, chunk) => needs(rank, chunk))
    for (const [at, value] of values.entries()) chunks[at]!.add(value.join())
  }
  return Math.max(...distinct.map((set) => set.size))
}

test('on float32 the ranks have the same bits where the registry says so', () => {
  for (const algorithm of algorithms)
    for (const size of [2, 3, 5, 6, 7, 8, 12, 16])
      for (const settings of spread(algorithm.variants(size), 8))
        if (algorithm.identical(size, settings))
          expect(distinctSums(algorithm, size, settings), caseName(algorithm, size, settings)).toBe(1)
})

test('on float32 the ranks do differ wherever the registry says that they may', () => {
  for (const algorithm of algorithms.filter(({ restrictions }) => !restrictions.idempotent))
    for (const size of [3, 5, 6, 7, 9, 10, 12, 15])
      for (const settings of spread(algorithm.variants(size), 8))
        if (!algorithm.identical(size, settings))
          expect(
            distinctSums(algorithm, size, settings),
            caseName(algorithm, size, settings),
          ).toBeGreaterThan(1)
})
