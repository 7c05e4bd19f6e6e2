import { describe, expect, test } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { countRank, countSchedule } from '../../../shared/schedule/counts.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'
import type { Algorithm, RankSchedule, Settings } from '../../../shared/schedule/types.ts'
import { verifySchedule } from '../../../shared/schedule/verify.ts'
import { caseName, combinations, spread } from '../../support/schedules.ts'

/**
 * Up to 32 ranks every variant; beyond, the first 8 (for the butterfly every r of the cyclic group) and 4 of the rest.
 * Beyond 16 ranks, schedules of more than 256 chunks are left to the random sample.
 */
function variantsToProve(algorithm: Algorithm, size: number): Settings[] {
  const all = algorithm.variants(size)
  const chosen = size <= 32 ? all : [...all.slice(0, 8), ...spread(all.slice(8), 4)]
  return chosen.filter((settings) => size <= 16 || algorithm.shape(size, settings).chunks <= 256)
}

/** Runs the proof and holds the registry's flags to what the operand trees say. */
function prove(algorithm: Algorithm, size: number, settings: Settings): void {
  const name = caseName(algorithm, size, settings)
  const schedule = buildSchedule(algorithm, size, settings)
  const { identical, ordered } = verifySchedule(schedule, { idempotent: algorithm.restrictions.idempotent })
  expect(identical, `${name}: identical`).toBe(algorithm.identical(size, settings))
  expect(ordered, `${name}: ordered`).toBe(algorithm.ordered(size, settings))
  if (algorithm.alike && size <= 24)
    expect(new Set(schedule.ranks.map(doingsOf)).size, `${name}: all ranks do alike`).toBe(1)
}

/** Chunks per message and chunks combined, step by step. */
function doingsOf({ steps }: RankSchedule): string {
  const doings = steps.map(({ sends, receives, locals }) => {
    const sizes = sends.map(({ slots }) => slots.length).sort((a, b) => a - b)
    const combines = receives.reduce((sum, { slots, how }) => sum + (how === 'store' ? 0 : slots.length), 0)
    return [sizes, combines + locals.filter(({ how }) => how !== 'store').length]
  })
  return JSON.stringify(doings)
}

describe.each(
  algorithms.map((algorithm) => [`${algorithm.collective} ${algorithm.name}`, algorithm] as const),
)('%s', (_, algorithm) => {
  test('is proved, with its flags, for every size up to 64', () => {
    for (let size = 1; size <= 64; size++)
      for (const settings of variantsToProve(algorithm, size)) prove(algorithm, size, settings)
  })

  test('is proved for what else its parameters allow: any root, ports, window, groups', () => {
    for (let size = 1; size <= 12; size++)
      for (const settings of combinations(algorithm, size, size <= 6 ? 200 : 40))
        prove(algorithm, size, settings)
    for (const size of [13, 17, 24, 33, 48, 64])
      for (const settings of combinations(algorithm, size, 3)) prove(algorithm, size, settings)
  })

  test('is proved for random sizes up to 1024', () => {
    const seed = 20_260_000 + algorithms.indexOf(algorithm)
    const prng = createPrng(seed)
    for (let sample = 0; sample < 3; sample++) {
      let size = 65 + prng.below(960)
      const pick = () => {
        const allowed = sample === 0 ? algorithm.variants(size) : combinations(algorithm, size, 50)
        return allowed[prng.below(allowed.length)]!
      }
      let settings = pick()
      // A ring of 1024 ranks has two million messages: halve what is too much for a test.
      while (size > 64 && work(algorithm, size, settings) > 60_000) {
        size >>= 1
        settings = pick()
      }
      prove(algorithm, size, settings)
    }
  })
})

/** Chunks sent and steps of all ranks together, estimated from one rank in the middle. */
function work(algorithm: Algorithm, size: number, settings: Settings): number {
  const shape = algorithm.shape(size, settings)
  const { chunksSent } = countRank(shape, algorithm.part(size, settings, size >> 1))
  return size * (chunksSent + shape.steps)
}

test('counts are those of the busiest rank', () => {
  for (const algorithm of algorithms) {
    const schedule = buildSchedule(algorithm, 6)
    const ranks = schedule.ranks.map((part) => countRank(schedule, part))
    expect(countSchedule(schedule), algorithm.name).toEqual({
      steps: schedule.steps,
      chunksSentPerRank: Math.max(...ranks.map((rank) => rank.chunksSent)),
      chunkCombinesPerRank: Math.max(...ranks.map((rank) => rank.chunkCombines)),
      peersPerRank: Math.max(...ranks.map((rank) => rank.peers)),
    })
    const total = (key: 'chunksSent' | 'chunksReceived') => ranks.reduce((sum, rank) => sum + rank[key], 0)
    expect(total('chunksSent'), algorithm.name).toBe(total('chunksReceived'))
  }
})
