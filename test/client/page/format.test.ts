import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatPercent,
  formatRate,
  formatSeconds,
  list,
  parseBytes,
  plural,
} from '../../../client/page/format.ts'

describe('format', () => {
  it.each([
    [0, '0 B'],
    [425, '425 B'],
    [1024, '1 KiB'],
    [1536, '1.50 KiB'],
    [1 << 20, '1 MiB'],
    [64 << 20, '64 MiB'],
    [(1 << 20) - 4, '1024 KiB'],
  ])('bytes %d', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

  it.each([
    [0, '0 µs'],
    [0.000042, '42.0 µs'],
    [0.00042, '420 µs'],
    [0.0009999, '1.00 ms'],
    [0.0412, '41.2 ms'],
    [0.99996, '1.00 s'],
    [2.5, '2.50 s'],
    [64, '1 min 4 s'],
    [119.7, '2 min 0 s'],
    [Number.NaN, '–'],
  ])('seconds %d', (seconds, text) => expect(formatSeconds(seconds)).toBe(text))

  it('rates, percents, plurals, lists', () => {
    expect(formatRate(25.4e6)).toBe('25.4 MB/s')
    expect(formatRate(0)).toBe('0 MB/s')
    expect(formatPercent(0.083)).toBe('+8.3 %')
    expect(formatPercent(-0.25)).toBe('-25 %')
    expect(plural(1, 'peer')).toBe('1 peer')
    expect(plural(1200, 'peer')).toBe('1,200 peers')
    expect(list([])).toBe('')
    expect(list(['Ana', 'Bo', 'Cem'])).toBe('Ana, Bo and Cem')
  })

  it.each([
    ['425', 425],
    [' 64k ', 65536],
    ['1 MiB', 1048576],
    ['0.5 MB', 524288],
    ['1,5 KiB', 1536],
    ['0', 0],
    ['8 bytes', 8],
    ['', undefined],
    ['-4', undefined],
    ['1 T', undefined],
    ['1e6', undefined],
  ])('reads the size %j', (text, bytes) => expect(parseBytes(text)).toBe(bytes))
})
