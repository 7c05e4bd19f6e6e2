import { describe, expect, it } from 'vitest'
import { pairRounds, partnerOf } from '../../../shared/collective/pairs.ts'

describe('partnerOf', () => {
  it('lets every rank meet every other exactly once, one at a time, for every size', () => {
    for (let size = 1; size <= 33; size++) {
      const met = new Set<string>()
      for (let round = 0; round < pairRounds(size); round++)
        for (let rank = 0; rank < size; rank++) {
          const partner = partnerOf(size, round, rank)
          if (partner === undefined) continue
          expect(partner).not.toBe(rank)
          expect(partnerOf(size, round, partner)).toBe(rank)
          met.add(`${rank} ${partner}`)
        }
      expect(met.size).toBe(size * (size - 1))
    }
  })
})
