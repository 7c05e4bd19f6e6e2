import { expect, test } from 'vitest'
import { recursiveHalving } from '../../../shared/schedule/doubling.ts'
import { elimination } from '../../../shared/schedule/elimination.ts'
import { prove } from '../../support/prove.ts'

test('2 floor(log2 P) + 2 steps for any size, one message each way per step, rank order kept', () => {
  for (let size = 1; size <= 70; size++) {
    const k = Math.floor(Math.log2(size))
    const { facts, steps, schedule } = prove(elimination, size)
    expect(steps).toBe(size === 2 ** k ? 2 * k : 2 * k + 2)
    expect(facts).toMatchObject({ identical: true, ordered: true, once: true })
    for (const part of schedule.ranks) {
      for (const { sends, receives } of part.steps) {
        expect(sends.length).toBeLessThanOrEqual(1)
        expect(receives.length).toBeLessThanOrEqual(1)
      }
    }
  }
})

test('at most half a vector more than on 2^k ranks, where the classic fold sends a whole one more', () => {
  for (let size = 3; size <= 64; size++) {
    const k = Math.floor(Math.log2(size))
    if (size === 2 ** k) continue
    const optimum = 2 * (1 - 2 ** -k)
    const { sent, received, combined } = prove(elimination, size)
    expect(sent).toBeLessThanOrEqual(optimum + 0.5)
    expect(received).toBeLessThanOrEqual(optimum + 0.5)
    expect(combined).toBeLessThanOrEqual(1.5)
    expect(sent).toBeLessThan(prove(recursiveHalving, size).sent)
  }
})

test('on 2^k ranks it is recursive halving', () => {
  for (const size of [1, 2, 4, 16]) {
    expect(prove(elimination, size).schedule.ranks).toEqual(prove(recursiveHalving, size).schedule.ranks)
  }
})
