import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatList,
  formatRate,
  formatSeconds,
  formatTick,
} from '../../../../client/page/stage/format.ts'

describe('numbers for people', () => {
  it('give times in µs, ms and s', () => {
    expect([0, 4.2e-6, 0.000651, 0.0013, 0.0182, 0.412, 2.5].map(formatSeconds)).toEqual([
      '0 ms',
      '4.2 µs',
      '651 µs',
      '1.3 ms',
      '18.2 ms',
      '412 ms',
      '2.50 s',
    ])
    expect([0, 0.01, 0.0025, 1.5].map(formatTick)).toEqual(['0', '10 ms', '2.5 ms', '1.5 s'])
  })

  it('give sizes in binary units, whole ones without decimals although sums of fractions are not', () => {
    expect([425, 1024, 1536, (1 << 20) * (0.1 + 0.2 + 0.7), 149797].map(formatBytes)).toEqual([
      '425 B',
      '1 KiB',
      '1.50 KiB',
      '1 MiB',
      '146 KiB',
    ])
    expect(formatRate(20.13e6)).toBe('20.1 MB/s')
  })

  it('fold runs of numbers', () => {
    expect(formatList([3, 0, 1, 2, 5, 6, 9])).toBe('0–3, 5, 6, 9')
    expect(formatList([1, 3, 5, 7], 2)).toBe('1, 3, …')
  })
})
