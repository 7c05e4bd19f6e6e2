import { expect, it } from 'vitest'
import { median, milliseconds, sizeText, spread } from './statistics.ts'

it('takes the middle, or the mean of both in the middle, without sorting the original', () => {
  const values = [3, 1, 2]
  expect(median(values)).toBe(2)
  expect(values).toEqual([3, 1, 2])
  expect(median([4, 1, 2, 3])).toBe(2.5)
})

it('says least and most beside the median', () => {
  expect(spread([2, 1, 4], 1)).toBe('2.0 [1.0..4.0]')
})

it('gives times below 10 ms two digits more than long ones', () => {
  expect(milliseconds([0.0012])).toBe('1.20 [1.20..1.20]')
  expect(milliseconds([0.0123])).toBe('12.3 [12.3..12.3]')
  expect(milliseconds([0.123])).toBe('123 [123..123]')
})

it('says whole KiB and MiB as such', () => {
  expect([425, 9216, 4 * 2 ** 20, 1536].map(sizeText)).toEqual(['425 B', '9 KiB', '4 MiB', '1536 B'])
})
