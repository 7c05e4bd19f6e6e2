import { expect, test } from 'vitest'
import {
  reduceScatterGather,
  scatterAllgather,
  twoShotBroadcast,
  twoShotReduce,
} from '../../../shared/schedule/twoPhase.ts'
import { prove } from '../../support/prove.ts'

test('any rank can be the root', () => {
  for (const algorithm of [scatterAllgather, reduceScatterGather, twoShotBroadcast, twoShotReduce]) {
    for (let size = 1; size <= 12; size++) {
      for (let root = 0; root < size; root++) {
        const { facts } = prove(algorithm, size, { root })
        expect(facts).toMatchObject({ identical: true, once: true })
        expect(facts.ordered || algorithm.restrictions.commutative).toBe(true)
      }
    }
  }
})

test('less than two vectors at the root, where a tree sends ceil(log2 P)', () => {
  for (let size = 3; size <= 40; size++) {
    const share = (size - 1) / size
    const log = Math.ceil(Math.log2(size))
    for (const [broadcast, reduce, steps] of [
      [prove(scatterAllgather, size), prove(reduceScatterGather, size), 2 * log],
      [prove(twoShotBroadcast, size), prove(twoShotReduce, size), 2],
    ] as const) {
      expect([broadcast.steps, reduce.steps]).toEqual([steps, steps])
      expect(broadcast.sent).toBeCloseTo(2 * share)
      expect(reduce.received).toBeCloseTo(2 * share)
      expect(reduce.combined).toBeCloseTo(share)
    }
  }
})
