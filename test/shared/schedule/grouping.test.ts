import fc from 'fast-check'
import { expect, test } from 'vitest'
import { evenGroups, parseGroups } from '../../../shared/schedule/grouping.ts'

test('sizes stand for consecutive ranks, bars for explicit members', () => {
  expect(parseGroups('2+3', 5)).toEqual([
    [0, 1],
    [2, 3, 4],
  ])
  expect(parseGroups('4,0|3,1,2', 5)).toEqual([
    [4, 0],
    [3, 1, 2],
  ])
  expect(parseGroups('1|0', 2)).toEqual([[1], [0]])
  expect(parseGroups('3', 3)).toEqual([[0, 1, 2]])
})

test('what is no partition of the ranks is refused in words', () => {
  for (const text of ['2+2', '2+4', '0,1|1,2,3', '0,1|2,3', '0,1|2,3,5', '5+0', '999999999999+1']) {
    expect(() => parseGroups(text, 5)).toThrow(/ranks exactly once|no member/)
  }
  for (const text of ['', '2+', '+', 'a', '2 + 3', '-1+6', '2+3|4', '0,1||2', '1'.repeat(200_000)]) {
    expect(() => parseGroups(text, 5)).toThrow(/written as/)
  }
})

test('even groups differ by at most one and stand for every rank', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 200 }), (size, count) => {
      fc.pre(count <= size)
      const groups = parseGroups(evenGroups(size, count), size)
      const sizes = groups.map((group) => group.length)
      expect(groups).toHaveLength(count)
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      expect(groups.flat()).toEqual(Array.from({ length: size }, (_, rank) => rank))
    }),
  )
})
