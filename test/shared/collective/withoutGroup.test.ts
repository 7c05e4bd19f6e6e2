import { describe, expect, it } from 'vitest'
import { ArgumentError, ScheduleError } from '../../../shared/base/errors.ts'
import { createMemoryGroup } from '../../../shared/collective/memoryGroup.ts'
import { plan, predict, verify } from '../../../shared/collective/withoutGroup.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'

describe('without a group', () => {
  it('plans and proves every algorithm of every collective', () => {
    for (const { name, collective, refuses, restrictions } of algorithms) {
      if (refuses(7, {}) !== undefined) continue
      const schedule = plan({ size: 7, count: 1000, op: 'max', collective, algorithm: name })
      expect(schedule).toMatchObject({ format: 'papilio-schedule', size: 7, collective, algorithm: name })
      // As it comes back from a file.
      const proof = verify(JSON.parse(JSON.stringify(schedule)))
      if (!restrictions.idempotent && collective !== 'barrier') expect(proof.once).toBe(true)
    }
  })

  it('says what a group would run, and what its settings were', async () => {
    const [group] = await createMemoryGroup(5, { measure: false })
    for (const count of [1, 1000, 1_000_000]) {
      const request = { count, dtype: 'f64', op: 'mean' } as const
      const here = predict({ ...request, size: 5 })
      expect(here.chosen).toEqual(group!.predict(request).chosen)
      const { algorithm, settings } = plan({ ...request, size: 5 })
      expect({ algorithm, settings }).toEqual({
        algorithm: here.chosen.algorithm,
        settings: here.chosen.settings,
      })
    }
    expect(plan({ size: 6, count: 9, algorithm: 'window', settings: { window: 2 } }).settings).toMatchObject({
      window: 2,
    })
    expect(plan({ size: 6, count: 9, collective: 'broadcast', root: 4 }).root).toBe(4)
  })

  it('refuses what is wrong, and names the place', () => {
    expect(() => plan({ size: 7, count: 1, algorithm: 'nonsense' })).toThrow(ArgumentError)
    expect(() => plan({ size: 0, count: 1 })).toThrow(ArgumentError)
    expect(() => plan({ size: 2, count: 0.5 })).toThrow(ArgumentError)
    expect(() => verify({})).toThrow(ScheduleError)
    const schedule = plan({ size: 4, count: 1, algorithm: 'ring' })
    const broken = JSON.stringify(schedule).replace('"append"', '"store"')
    expect(() => verify(JSON.parse(broken))).toThrow(ScheduleError)
    const twice = plan({ size: 5, count: 1, op: 'max', algorithm: 'dissemination' })
    expect(verify(twice).once).toBe(false)
    expect(() => verify(twice, { idempotent: false })).toThrow(/twice/)
  })
})
