import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chain, chainBroadcast, chainReduce } from '../../../shared/schedule/chain.ts'
import { bestPieces, bestPiecesOf } from '../../../shared/schedule/pipeline.ts'
import { prove } from '../../support/prove.ts'

test('p + m - 2 steps to an end of the chain, for one vector sent by each rank', () => {
  for (const size of [2, 3, 7, 16, 40]) {
    for (const pieces of [1, 2, 8, 64]) {
      for (const algorithm of [chainReduce, chainBroadcast]) {
        const { facts, steps, sent } = prove(algorithm, size, { root: 0, pieces })
        expect(facts).toMatchObject({ ordered: true, once: true })
        expect({ steps, sent }).toEqual({ steps: size + pieces - 2, sent: 1 })
      }
    }
  }
})

test('any rank can be the root', () => {
  for (const algorithm of [chainReduce, chainBroadcast]) {
    for (let size = 1; size <= 9; size++) {
      for (let root = 0; root < size; root++) {
        const { facts, steps } = prove(algorithm, size, { root, pieces: 2 })
        expect(facts).toMatchObject({ ordered: true, once: true })
        expect(steps).toBe(size === 1 ? 0 : Math.max(root, size - 1 - root) + 1)
      }
    }
  }
})

test('there and back with the root at rank q takes 2 max(q, P - 1 - q) + m - 1 steps and two vectors', () => {
  for (let size = 2; size <= 12; size++) {
    for (let root = 0; root < size; root++) {
      for (const pieces of [1, 2, 4]) {
        const { facts, steps, sent, combined, peersPerRank } = prove(chain, size, { root, pieces })
        expect(facts).toMatchObject({ identical: true, ordered: true, once: true })
        expect(steps).toBe(2 * Math.max(root, size - 1 - root) + pieces - 1)
        expect(sent).toBeLessThanOrEqual(2)
        expect(combined).toBeLessThanOrEqual(2)
        expect(peersPerRank).toBeLessThanOrEqual(2)
      }
    }
  }
  expect(prove(chain, 1).steps).toBe(0)
  expect(prove(chain, 9, {}).schedule.settings).toEqual({ root: 4, pieces: 8 })
})

test('the best number of pieces is the textbook square root, rounded to the better side', () => {
  // m = sqrt(n (p - 2) T_byte / T_start)
  expect(bestPiecesOf(chainReduce, 18, { root: 0 }, { bytes: 1e6, alpha: 1e-3, beta: 1e-8 })).toBe(
    Math.round(Math.sqrt((1e6 * 16 * 1e-8) / 1e-3)),
  )
  expect(bestPiecesOf(chain, 2, { root: 1 }, { bytes: 0, alpha: 1e-3, beta: 1e-8 })).toBe(1)
  expect(bestPiecesOf(chain, 60, { root: 0 }, { bytes: 1e9, alpha: 1e-6, beta: 1e-8 })).toBe(64)
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 60 }),
      fc.constantFrom(chain, chainReduce, chainBroadcast),
      fc.double({ min: 0, max: 1e7, noNaN: true }),
      fc.double({ min: 1e-6, max: 1e-2, noNaN: true }),
      fc.double({ min: 1e-10, max: 1e-6, noNaN: true }),
      (size, algorithm, bytes, alpha, beta) => {
        const way = algorithm === chain ? 2 * (size - 1) : size - 1
        const best = bestPieces(way - 1, bytes, alpha, beta)
        const time = (pieces: number) => (alpha + (bytes / pieces) * beta) * (way + pieces - 1)
        expect(bestPiecesOf(algorithm, size, { root: 0 }, { bytes, alpha, beta })).toBe(Math.min(64, best))
        const least = Math.min(...[-2, -1, 1, 2].map((by) => time(Math.max(1, best + by))))
        expect(time(best)).toBeLessThanOrEqual(least * (1 + 1e-12))
      },
    ),
  )
  expect(bestPieces(0, 1e6, 1e-3, 1e-8)).toBe(1)
})
