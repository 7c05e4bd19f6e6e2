import { expect, it } from 'vitest'
import type { ProtocolError } from '../../../shared/base/errors.ts'
import { createAhead } from '../../../shared/collective/ahead.ts'

it('takes news of as many ops to come as any program has under way, and no more from one member', () => {
  const offences: [string, ProtocolError][] = []
  const ahead = createAhead((peerId, error) => offences.push([peerId, error]))
  for (let op = 0; op < 1024; op++) expect(ahead.admit('mallory', op)).toBe(true)
  expect(ahead.admit('mallory', 5000)).toBe(false)
  expect(offences).toMatchObject([['mallory', { code: 'PROTOCOL' }]])
  // What is known already, and what others say, is taken.
  expect([ahead.admit('mallory', 7), ahead.admit('ada', 7), ahead.admit('ada', 2000)]).toEqual([
    true,
    true,
    true,
  ])
  expect(ahead.count()).toBe(1025)
  // Ops that are called make room again.
  ahead.called(0)
  expect(ahead.admit('mallory', 5000)).toBe(true)
  expect(offences).toHaveLength(1)
})

it('forgets what only members said that are gone, and what will never be called', () => {
  const ahead = createAhead(() => {})
  for (const op of [3, 4, 5]) ahead.admit('ada', op)
  for (const op of [5, 6]) ahead.admit('bo', op)
  expect(ahead.keepFor((peerId) => peerId === 'bo')).toEqual([3, 4])
  expect(ahead.keepFor((_, op) => op >= 6)).toEqual([5])
  expect(ahead.count()).toBe(1)
  expect(ahead.keepFor(() => false)).toEqual([6])
  expect(ahead.count()).toBe(0)
})
