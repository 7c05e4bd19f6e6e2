import { expect, test } from 'vitest'
import {
  addComplaint,
  blockedPairs,
  condemned,
  confirm,
  dropPair,
  hasLoss,
} from '../../../shared/membership/blame.ts'
import type { Complaint } from '../../../shared/membership/roomTypes.ts'

/** "ab" means that a complains of b. */
const complaints = (...pairs: string[]): Complaint[] =>
  pairs.map((pair) => ({
    by: pair[0]!,
    about: pair[1]!,
    reason: pair,
    at: 1,
    isPending: false,
    isConfirmed: true,
  }))
/** Of an open link, by a member whose view has epoch `knew`, in a room at epoch `at`. */
const lost = (by: string, about: string, knew = 1, at = knew) => ({
  by,
  about,
  reason: 'closed',
  at,
  wasOpen: true,
  knew,
})

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
  expect(addComplaint(all, lost('a', 'b'))).toBe(all)
  expect(blockedPairs(all)).toEqual([
    { a: 'a', b: 'b', reason: 'ab' },
    { a: 'a', b: 'c', reason: 'ac' },
  ])
  expect(dropPair(all, 'b', 'a')).toEqual(complaints('ac'))
})

test('a pair is blocked once the accused is known to be alive, and new once, whoever complains next', () => {
  const open = addComplaint([], lost('a', 'b'))
  expect(blockedPairs(open)).toEqual([])
  const blocked = confirm(open, 'b')
  expect(confirm(open, 'a')).toEqual(open)
  expect([hasLoss([], open), hasLoss(open, blocked)]).toEqual([false, true])
  const both = confirm(addComplaint(blocked, lost('b', 'a')), 'a')
  expect(hasLoss(blocked, both)).toBe(false)
  expect(hasLoss(both, dropPair(both, 'a', 'b'))).toBe(false)
})

test('both sides tell of one loss: whoever is heard first settles it', () => {
  const open = addComplaint(addComplaint([], lost('a', 'b')), lost('b', 'a'))
  const first = confirm(open, 'a')
  expect([hasLoss(open, first), hasLoss(first, confirm(first, 'b'))]).toEqual([true, false])
})

test('an open link that a pair loses after it was known to have none is another loss, and the pair stays blocked', () => {
  const blocked = confirm(addComplaint([], lost('a', 'b', 1)), 'b')
  for (const by of ['a', 'b']) {
    const about = by === 'a' ? 'b' : 'a'
    const again = addComplaint(blocked, lost(by, about, 2))
    expect(blockedPairs(again)).toHaveLength(1)
    expect([hasLoss(blocked, again), hasLoss(again, confirm(again, about))]).toEqual([false, true])
    // What could not be made was not lost.
    expect(addComplaint(blocked, { ...lost(by, about, 2), wasOpen: false })).toEqual(
      by === 'a'
        ? blocked
        : [...blocked, { by, about, reason: 'closed', at: 2, isPending: false, isConfirmed: false }],
    )
  }
})

test('a link that is lost and made again before the accused was heard is a loss all the same', () => {
  const open = addComplaint([], lost('a', 'b'))
  expect(hasLoss(open, dropPair(open, 'b', 'a'))).toBe(true)
  const failed = addComplaint([], { ...lost('a', 'b'), wasOpen: false })
  expect(hasLoss(failed, dropPair(failed, 'b', 'a'))).toBe(false)
})
