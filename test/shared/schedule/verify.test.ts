import { expect, test } from 'vitest'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { countSchedule } from '../../../shared/schedule/counts.ts'
import { findAlgorithm } from '../../../shared/schedule/registry.ts'
import { verifySchedule } from '../../../shared/schedule/verify.ts'

test('the ring is right for every size and ends with the same bits everywhere', () => {
  for (let size = 1; size <= 64; size++) {
    const schedule = buildSchedule(findAlgorithm('ring'), size, {})
    expect(verifySchedule(schedule)).toMatchObject({ identical: true, once: true })
    expect(countSchedule(schedule).chunksSentPerRank).toBe(2 * (size - 1))
  }
})
