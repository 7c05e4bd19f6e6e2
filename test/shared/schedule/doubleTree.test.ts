import { expect, test } from 'vitest'
import { doubleTree } from '../../../shared/schedule/doubleTree.ts'
import { prove } from '../../support/prove.ts'

test('2 ceil(log2 P) + m - 1 steps, at most two vectors each way, rank order kept', () => {
  for (let size = 2; size <= 100; size++) {
    for (const pieces of [1, 4]) {
      const { facts, steps, sent, received, combined, peersPerRank } = prove(doubleTree, size, { pieces })
      expect(facts).toMatchObject({ identical: true, ordered: true, once: true })
      expect(steps).toBe(2 * Math.ceil(Math.log2(size)) + pieces - 1)
      expect(sent).toBeLessThanOrEqual(2)
      expect(received).toBeLessThanOrEqual(2)
      expect(combined).toBeLessThanOrEqual(1)
      expect(peersPerRank).toBeLessThanOrEqual(6)
    }
  }
})

test('a rank with children in one tree has none in the other', () => {
  for (const size of [5, 6, 31, 32, 33]) {
    const { schedule } = prove(doubleTree, size, { pieces: 1 })
    for (const part of schedule.ranks) {
      const combinesOf = (chunk: number) =>
        part.steps
          .flatMap((step) => [
            ...step.receives.flatMap(({ slots, how }) => slots.map((slot) => ({ slot, how }))),
            ...step.locals,
          ])
          .filter(({ slot, how }) => how !== 'store' && part.slots[slot] === chunk).length
      expect(Math.min(combinesOf(0), combinesOf(1))).toBe(0)
    }
  }
})
