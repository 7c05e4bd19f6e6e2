import { expect, test } from 'vitest'
import { flatBroadcast, flatGather, flatReduce, flatScatter } from '../../../shared/schedule/flat.ts'
import { prove } from '../../support/prove.ts'

const sizes = [1, 2, 3, 5, 8, 13]

test('any rank can be the root, in one step', () => {
  for (const algorithm of [flatBroadcast, flatGather, flatReduce, flatScatter]) {
    for (const size of sizes) {
      for (let root = 0; root < size; root++) {
        const { facts, steps, schedule } = prove(algorithm, size, { root })
        expect(schedule.root).toBe(root)
        expect(steps).toBe(size > 1 ? 1 : 0)
        expect(facts).toMatchObject({ identical: true, ordered: true, once: true })
      }
    }
  }
})

test('the root of a broadcast sends P - 1 vectors, that of a scatter only what the others need', () => {
  expect(prove(flatBroadcast, 8).sent).toBe(7)
  expect(prove(flatScatter, 8).sent).toBe(7 / 8)
  expect(prove(flatGather, 8).received).toBe(7 / 8)
  expect(prove(flatReduce, 8)).toMatchObject({ received: 7, combined: 7 })
})
