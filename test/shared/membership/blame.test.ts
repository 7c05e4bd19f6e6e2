import { expect, test } from 'vitest'
import { addComplaint, blockedPairs, condemned, dropPair } from '../../../shared/membership/blame.ts'
import type { Complaint } from '../../../shared/membership/roomTypes.ts'

/** "ab" means that a complains of b. */
const complaints = (...pairs: string[]): Complaint[] =>
  pairs.map((pair) => ({ by: pair[0]!, about: pair[1]!, reason: pair }))

test('of two members neither is to blame', () => {
  expect(condemned(complaints('ab', 'ba'), 'a', 2)).toBe(false)
  expect(condemned(complaints('ab', 'ba'), 'b', 2)).toBe(false)
})

test('more than half of the others, and at least two, are needed', () => {
  expect(condemned(complaints('ba'), 'a', 3)).toBe(false)
  expect(condemned(complaints('ba', 'ca'), 'a', 3)).toBe(true)
  expect(condemned(complaints('ba', 'ca'), 'a', 5)).toBe(false)
  expect(condemned(complaints('ba', 'ca', 'da'), 'a', 5)).toBe(true)
})

test('whoever complains of most others is the cause, in whatever order the complaints come', () => {
  const all = complaints('ab', 'ac', 'ad', 'ae', 'ba', 'ca', 'da', 'ea', 'fb', 'fc', 'fd', 'fe')
  for (const order of [all, [...all].reverse()]) {
    expect(['a', 'b', 'c', 'd', 'e'].filter((about) => condemned(order, about, 6))).toEqual(['a'])
  }
})

test('a network that isolates everybody from everybody condemns nobody', () => {
  const ids = [...'abcdef']
  const all = complaints(
    ...ids.flatMap((by) => ids.filter((about) => about !== by).map((about) => by + about)),
  )
  expect(ids.filter((about) => condemned(all, about, 6))).toEqual([])
})

test('each pair is shown once, the same complaint counts once, and a link that works ends both sides', () => {
  const repeated = addComplaint(complaints('ab', 'ba', 'ac'), { by: 'a', about: 'b', reason: 'again' })
  expect(repeated.length).toBe(3)
  expect(blockedPairs(repeated)).toEqual([
    { a: 'b', b: 'a', reason: 'ba' },
    { a: 'a', b: 'c', reason: 'ac' },
  ])
  expect(dropPair(repeated, 'b', 'a')).toEqual(complaints('ac'))
})
