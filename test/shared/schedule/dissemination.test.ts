import { expect, test } from 'vitest'
import { directBarrier, dissemination, disseminationBarrier } from '../../../shared/schedule/dissemination.ts'
import { verifySchedule } from '../../../shared/schedule/verify.ts'
import { prove } from '../../support/prove.ts'

test('ceil(log2 P) steps, one vector and one combine in each', () => {
  for (let size = 2; size <= 64; size++) {
    const log = Math.ceil(Math.log2(size))
    for (const algorithm of [dissemination, disseminationBarrier]) {
      expect(prove(algorithm, size)).toMatchObject({ steps: log, sent: log, combined: log, messages: log })
    }
  }
})

test('contributions count twice unless the span before the last step divides P, so a sum is refused', () => {
  for (let size = 2; size <= 64; size++) {
    for (const settings of dissemination.variants(size)) {
      const { facts, steps, schedule } = prove(dissemination, size, settings)
      const exact = size % (Number(settings.ports) + 1) ** (steps - 1) === 0
      expect(facts.once).toBe(exact)
      if (!exact) expect(() => verifySchedule(schedule)).toThrow(/twice/)
    }
  }
})

test('a barrier is over in one step where all links exist', () => {
  expect(prove(directBarrier, 20)).toMatchObject({ steps: 1, messages: 19, peersPerRank: 19 })
  for (const barrier of [directBarrier, disseminationBarrier]) expect(prove(barrier, 1).steps).toBe(0)
})
