import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  hostSchema,
  type JoinRequest,
  joinRequestSchema,
  linkedSchema,
  lostSchema,
  ranSchema,
  signalSchema,
} from '../../../shared/signaling/events.ts'
import { limits } from '../../../shared/signaling/limits.ts'

const join: JoinRequest = { protocol: 1, name: 'Ada', kind: 'tab' }
const accepts = (schema: v.GenericSchema, value: unknown) => v.safeParse(schema, value).success

describe('join', () => {
  test('the least and the most that a request can have', () => {
    expect(v.parse(joinRequestSchema, join)).toEqual({ ...join, create: false })
    const members = Array.from({ length: limits.peersPerRoom }, (_, index) => ({
      peerId: `${'p'.repeat(36)}-${index % 1000}`.slice(0, 40),
      name: '𝔪'.repeat(limits.nameLength / 2),
      kind: 'in-page',
    }))
    const full = {
      ...join,
      room: 'k7f-2q9',
      create: true,
      token: 't'.repeat(40),
      peerId: 'p'.repeat(40),
      known: { epoch: limits.epoch, rank: 127, members },
    }
    expect(v.parse(joinRequestSchema, full)).toEqual(full)
    expect(new TextEncoder().encode(JSON.stringify(full)).length).toBeLessThan(limits.eventBytes)
  })

  test('codes are taken as people type them', () => {
    expect(v.parse(joinRequestSchema, { ...join, room: ' K7F-2Q9 ' }).room).toBe('k7f-2q9')
  })

  test.each([
    ['no name', { protocol: 1, kind: 'tab' }],
    ['a long name', { ...join, name: 'x'.repeat(33) }],
    ['a name that is none', { ...join, name: { toString: 'x' } }],
    ['a strange kind', { ...join, kind: '<script>' }],
    ['an empty code', { ...join, room: '' }],
    ['a code with a slash', { ...join, room: 'a/b' }],
    ['a code with a hyphen at the end', { ...join, room: 'a-' }],
    ['a long code', { ...join, room: 'a'.repeat(41) }],
    ['a token with a space', { ...join, token: 'a b' }],
    ['an epoch below 0', { ...join, known: { epoch: -1, rank: 0 } }],
    ['an epoch that is no integer', { ...join, known: { epoch: 0.5, rank: 0 } }],
    ['an epoch beyond frames', { ...join, known: { epoch: 2 ** 31, rank: 0 } }],
    [
      'too many members',
      {
        ...join,
        known: { epoch: 1, rank: 0, members: Array(129).fill({ peerId: 'p', name: 'a', kind: 'tab' }) },
      },
    ],
  ])('%s is refused', (_, value) => {
    expect(accepts(joinRequestSchema, value)).toBe(false)
  })
})

test('the other requests', () => {
  expect(accepts(signalSchema, { to: 'p1', data: { type: 'offer' } })).toBe(true)
  expect(accepts(signalSchema, { to: 'p 1', data: null })).toBe(false)
  expect(accepts(lostSchema, { peerId: 'p1', epoch: 3, reason: 'channel closed' })).toBe(true)
  expect(accepts(lostSchema, { peerId: 'p1', epoch: 3, reason: 'x'.repeat(201) })).toBe(false)
  expect(accepts(linkedSchema, { peerId: 'p1', path: 'relayed' })).toBe(true)
  expect(accepts(linkedSchema, { peerId: 'p1', path: 'magic' })).toBe(false)
  expect(accepts(ranSchema, { seconds: 0.25 })).toBe(true)
  expect(accepts(ranSchema, { seconds: Number.NaN })).toBe(false)
  expect(accepts(hostSchema, { action: 'kick', peerId: 'p1' })).toBe(true)
  expect(accepts(hostSchema, { action: 'lock', locked: 1 })).toBe(false)
  expect(accepts(hostSchema, { action: 'ban' })).toBe(false)
})

test('no value at all makes a schema throw', () => {
  const schemas = [joinRequestSchema, signalSchema, lostSchema, linkedSchema, ranSchema, hostSchema]
  const nearly = fc.record(
    {
      protocol: fc.anything(),
      name: fc.anything(),
      kind: fc.anything(),
      room: fc.anything(),
      known: fc.anything(),
      to: fc.anything(),
      peerId: fc.anything(),
      action: fc.anything(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.oneof(fc.anything(), nearly), (value) => {
      for (const schema of schemas) expect(typeof v.safeParse(schema, value).success).toBe('boolean')
    }),
  )
})
