import { expect, test } from 'vitest'
import { reduceScatterGather, scatterAllgather } from '../../../shared/schedule/twoPhase.ts'
import { prove } from '../../support/prove.ts'

test('any root, with few links and with all', () => {
  for (const algorithm of [scatterAllgather, reduceScatterGather]) {
    for (let size = 1; size <= 12; size++) {
      for (const { ports } of algorithm.variants(size)) {
        for (let root = 0; root < size; root++) {
          const { facts, schedule } = prove(algorithm, size, { root, ports: ports! })
          expect(facts).toMatchObject({ identical: true, once: true })
          expect(facts.ordered || !algorithm.ordered?.(size, schedule.settings)).toBe(true)
        }
      }
    }
  }
})

test('2 ceil(log2 P) steps or two, and less than two vectors at the root, where a tree sends ceil(log2 P)', () => {
  for (let size = 3; size <= 40; size++) {
    const share = (size - 1) / size
    const log = Math.ceil(Math.log2(size))
    for (const [ports, steps] of [
      [1, 2 * log],
      [size - 1, 2],
    ] as const) {
      const broadcast = prove(scatterAllgather, size, { ports })
      expect(broadcast.steps).toBe(steps)
      expect(broadcast.sent).toBeCloseTo(2 * share)
      const reduce = prove(reduceScatterGather, size, { ports })
      expect(reduce.steps).toBe(steps)
      expect(reduce.received).toBeCloseTo(2 * share)
      expect(reduce.combined).toBeCloseTo(share)
    }
  }
})
