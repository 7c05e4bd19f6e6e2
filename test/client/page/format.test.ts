import { describe, expect, it } from 'vitest'
import { formatCount, formatPercent, list, parseBytes } from '../../../client/page/format.ts'

describe('format', () => {
  it('counts, percents, lists', () => {
    expect(formatPercent(0.083)).toBe('+8.3\u00a0%')
    expect(formatPercent(13.6)).toBe('×15')
    expect(formatPercent(-0.25)).toBe('-25\u00a0%')
    expect(formatCount(262144)).toBe('262,144')
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
