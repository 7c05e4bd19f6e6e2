import { expect, test } from 'vitest'
import { codeAlphabet, freeCode, freshIds, hostToken, isHostToken } from '../../server/codes.ts'

test('codes are short, readable, and free', () => {
  const form = new RegExp(`^[${codeAlphabet}]{3}-[${codeAlphabet}]{3}$`)
  for (const lookalike of '01iloUuv') expect(codeAlphabet).not.toContain(lookalike)
  const used = new Set<string>()
  for (let count = 0; count < 2000; count++) {
    const code = freeCode((other) => used.has(other))
    expect(code).toMatch(form)
    expect(used.has(code)).toBe(false)
    used.add(code)
  }
  let asked = 0
  const last = freeCode(() => ++asked < 5)
  expect([asked, last]).toEqual([5, expect.stringMatching(form)])
})

test('ids are fit for the schema', () => {
  const { peerId, token, seed } = freshIds()
  expect(peerId).toMatch(/^[A-Za-z0-9_-]{12}$/)
  expect(token).toMatch(/^[A-Za-z0-9_-]{21}$/)
  expect(Number.isSafeInteger(seed) && seed >= 0).toBe(true)
})

test('the token of a host proves it to the same secret and room only', () => {
  const token = hostToken('a secret of some length', 'k7f-2q9')
  expect(token).toMatch(/^[A-Za-z0-9_-]{36}$/)
  expect(isHostToken('a secret of some length', 'k7f-2q9', token)).toBe(true)
  expect(isHostToken('a secret of some length', 'k7f-2q8', token)).toBe(false)
  expect(isHostToken('another secret of length', 'k7f-2q9', token)).toBe(false)
  expect(isHostToken('a secret of some length', 'k7f-2q9', freshIds().token)).toBe(false)
  expect(isHostToken('a secret of some length', 'k7f-2q9', `${token.slice(0, -1)}é`)).toBe(false)
  expect(isHostToken('a secret of some length', 'k7f-2q9', '')).toBe(false)
})
