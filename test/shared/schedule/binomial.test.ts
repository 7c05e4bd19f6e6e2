import { expect, test } from 'vitest'
import {
  binomial,
  binomialBroadcast,
  binomialGather,
  binomialReduce,
  binomialScatter,
} from '../../../shared/schedule/binomial.ts'
import { prove } from '../../support/prove.ts'

const log2 = (size: number) => Math.ceil(Math.log2(size))

test('any rank can be the root, rank order is kept, in ceil(log2 P) steps', () => {
  for (const algorithm of [binomialBroadcast, binomialGather, binomialReduce, binomialScatter]) {
    for (let size = 1; size <= 20; size++) {
      for (let root = 0; root < size; root++) {
        const { facts, steps } = prove(algorithm, size, { root })
        expect(steps).toBe(log2(size))
        expect(facts).toMatchObject({ identical: true, ordered: true, once: true })
      }
    }
  }
})

test('a rank sends at most ceil(log2 P) vectors when it reduces and broadcasts, each other one at most P / 2 blocks', () => {
  for (let size = 2; size <= 64; size++) {
    expect(prove(binomial, size)).toMatchObject({
      steps: 2 * log2(size),
      sent: log2(size),
      combined: log2(size),
    })
    expect(prove(binomialReduce, size)).toMatchObject({ sent: 1, combined: log2(size) })
    expect(prove(binomialBroadcast, size)).toMatchObject({ sent: log2(size), received: 1 })
    expect(prove(binomialGather, size).received).toBeCloseTo((size - 1) / size)
    expect(prove(binomialScatter, size).sent).toBeCloseTo((size - 1) / size)
    expect(prove(binomialScatter, size).received).toBeLessThanOrEqual(0.5)
  }
})
