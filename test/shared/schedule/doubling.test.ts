import { expect, test } from 'vitest'
import { hybrid, recursiveDoubling, recursiveHalving } from '../../../shared/schedule/doubling.ts'
import { prove } from '../../support/prove.ts'

const powers = [1, 2, 3, 4, 5, 6]

test('on 2^k ranks r removed steps cost 2 (P - 2^r) + r 2^r chunks of 1 / P', () => {
  for (const k of powers) {
    const size = 2 ** k
    for (let r = 0; r <= k; r++) {
      const { facts, steps, sent } = prove(hybrid, size, { r })
      expect(facts).toMatchObject({ identical: true, ordered: true, once: true })
      expect(steps).toBe(2 * k - r)
      expect(sent * size).toBeCloseTo(2 * (size - 2 ** r) + r * 2 ** r)
    }
    expect(prove(recursiveDoubling, size)).toMatchObject({ steps: k, sent: k, combined: k, peersPerRank: k })
    expect(prove(recursiveHalving, size)).toMatchObject({
      steps: 2 * k,
      chunksSentPerRank: 2 * (size - 1),
      chunkCombinesPerRank: size - 1,
      peersPerRank: k,
    })
  }
})

test('other sizes pay two steps and a whole vector more each way', () => {
  for (let size = 3; size <= 64; size++) {
    const k = Math.floor(Math.log2(size))
    if (size === 2 ** k) continue
    const doubling = prove(recursiveDoubling, size)
    expect(doubling).toMatchObject({ steps: k + 2, sent: k + 1, received: k + 1, combined: k + 1 })
    const halving = prove(recursiveHalving, size)
    expect(halving.steps).toBe(2 * k + 2)
    // HCCL counts (2 (P' - 1) / P' + 2) n in time; of that a rank sends one n or the other.
    expect(halving.sent).toBeCloseTo((2 * (2 ** k - 1)) / 2 ** k + 1)
    expect(halving.received).toBeCloseTo((2 * (2 ** k - 1)) / 2 ** k + 1)
    expect(halving.ranks[1]).toMatchObject({ vectorSent: 1, vectorReceived: 1, messages: 1 })
  }
})

test('between its ends the hybrid is listed under its own name', () => {
  expect(hybrid.variants(16)).toEqual([{ r: 1 }, { r: 2 }, { r: 3 }])
  expect(hybrid.variants(3)).toEqual([])
})
