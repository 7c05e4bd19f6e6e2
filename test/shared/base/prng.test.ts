import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'

describe('createPrng', () => {
  it('repeats its sequence for the same seed and stays in [0, 1)', () => {
    const a = createPrng(7)
    const b = createPrng(7)
    for (let i = 0; i < 1000; i++) {
      const value = a.next()
      expect(value).toBe(b.next())
      expect(value).toBeGreaterThanOrEqual(0)
      expect(value).toBeLessThan(1)
    }
  })
})
