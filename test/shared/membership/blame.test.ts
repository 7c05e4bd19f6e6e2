import { expect, test } from 'vitest'
import {
  addComplaint,
  blockedPairs,
  condemned,
  confirm,
  dropPair,
  hasNewPair,
} from '../../../shared/membership/blame.ts'
import type { Complaint } from '../../../shared/membership/roomTypes.ts'

/** "ab" means that a complains of b. */
const complaints = (...pairs: string[]): Complaint[] =>
  pairs.map((pair) => ({ by: pair[0]!, about: pair[1]!, reason: pair, isConfirmed: true }))

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
  const all = complaints('ab', 'ba', 'ac')
  expect(addComplaint(all, { by: 'a', about: 'b', reason: 'again', isConfirmed: false })).toEqual(all)
  expect(blockedPairs(all)).toEqual([
    { a: 'a', b: 'b', reason: 'ab' },
    { a: 'a', b: 'c', reason: 'ac' },
  ])
  expect(dropPair(all, 'b', 'a')).toEqual(complaints('ac'))
})

test('a pair is blocked once the accused is known to be alive, and new once, whoever complains next', () => {
  const open = addComplaint([], { by: 'a', about: 'b', reason: 'closed', isConfirmed: false })
  expect(blockedPairs(open)).toEqual([])
  const blocked = confirm(open, 'b')
  expect(confirm(open, 'a')).toEqual(open)
  expect([hasNewPair([], open), hasNewPair(open, blocked)]).toEqual([false, true])
  const both = confirm(addComplaint(blocked, { by: 'b', about: 'a', reason: 'too', isConfirmed: false }), 'a')
  expect(hasNewPair(blocked, both)).toBe(false)
  expect(hasNewPair(both, dropPair(both, 'a', 'b'))).toBe(false)
})
