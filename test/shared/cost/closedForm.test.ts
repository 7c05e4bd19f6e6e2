import { describe, expect, it } from 'vitest'
import {
  bestRemoved,
  butterflyTerms,
  doublingTerms,
  halvingTerms,
  ringTerms,
  secondsOf,
} from '../../../shared/cost/closedForm.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { countSchedule } from '../../../shared/schedule/counts.ts'
import { findAlgorithm } from '../../../shared/schedule/registry.ts'

const butterfly = findAlgorithm('butterfly', 'allreduce')
const exact = (size: number, r: number) =>
  countSchedule(buildSchedule(butterfly, size, { r, group: 'cyclic' }))

describe('the formulas', () => {
  it('are what the ring does', () => {
    for (const size of [2, 5, 8]) {
      const counts = countSchedule(buildSchedule(findAlgorithm('ring', 'allreduce'), size))
      expect(ringTerms(size)).toEqual({
        steps: counts.steps,
        sent: counts.chunksSentPerRank / size,
        combined: counts.chunkCombinesPerRank / size,
      })
    }
  })

  it('bound the butterfly from above, and are exact at r = 0, r = 1 and r = L', () => {
    for (let size = 2; size <= 33; size++) {
      const steps = Math.ceil(Math.log2(size))
      for (let r = 0; r <= steps; r++) {
        const terms = butterflyTerms(size, r)
        const counts = exact(size, r)
        expect(terms.steps).toBe(counts.steps)
        const sent = Math.round(terms.sent * size)
        if (r <= 1 || r === steps) expect(sent, `P=${size} r=${r}`).toBe(counts.chunksSentPerRank)
        else expect(sent, `P=${size} r=${r}`).toBeGreaterThanOrEqual(counts.chunksSentPerRank)
        expect(terms.combined * size, `P=${size} r=${r}`).toBeGreaterThanOrEqual(
          counts.chunkCombinesPerRank - 1e-9,
        )
      }
    }
  })

  it('are loosest where the copies round worst: P = 33, r = 5 sends 144 chunks, not 219', () => {
    expect(exact(33, 5).chunksSentPerRank).toBe(144)
    expect(Math.round(butterflyTerms(33, 5).sent * 33)).toBe(219)
  })

  it('give the r of the paper for 127 ranks', () => {
    const cost = { alpha: 3e-5, beta: 1e-8, gamma: 2e-10 }
    expect(bestRemoved(127, 425, cost)).toBeCloseTo(7.7, 1)
    expect(bestRemoved(127, 9216, cost)).toBeCloseTo(3.26, 1)
    expect(bestRemoved(127, 65536, cost)).toBeCloseTo(0.43, 1)
  })

  it('meet at the powers of two: doubling is r = L, halving is r = 0', () => {
    for (const size of [2, 8, 64]) {
      expect(doublingTerms(size).sent).toBe(butterflyTerms(size, Math.log2(size)).sent)
      expect(halvingTerms(size)).toEqual(butterflyTerms(size, 0))
    }
    expect(doublingTerms(7)).toEqual({ steps: 4, sent: 3, combined: 3 })
    expect(halvingTerms(7)).toEqual({ steps: 6, sent: 3.5, combined: 1.75 })
  })

  it('are priced like any line', () => {
    expect(secondsOf(ringTerms(4), 1000, { alpha: 1e-3, beta: 1e-6, gamma: 1e-7 })).toBeCloseTo(
      6e-3 + 1.5e-3 + 7.5e-5,
      12,
    )
  })
})
