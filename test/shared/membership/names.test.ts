import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanName, madeUpName, uniqueName } from '../../../shared/membership/names.ts'

test.each([
  ['  Ada   Lovelace ', 'Ada Lovelace'],
  ['Ada\nLovelace\t!', 'Ada Lovelace !'],
  ['\u202eevil\u202c', 'evil'],
  ['\u200b\u2060\ufeff', ''],
  ['e\u0301', '\u00e9'],
  ['a\u0300\u0301\u0302\u0303\u0304', '\u00e0\u0301\u0302'],
  ['山田 太郎', '山田 太郎'],
  ['José', 'José'],
  ['<b>Bo</b>', '<b>Bo</b>'],
])('%j is cleaned to %j', (raw, clean) => {
  expect(cleanName(raw, 32)).toBe(clean)
})

test('a clean name is visible, short, well-formed and stays as it is when cleaned again', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.integer({ min: 1, max: 40 }),
      (raw, limit) => {
        const clean = cleanName(raw, limit)
        expect(clean.length).toBeLessThanOrEqual(limit)
        expect(clean).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
        expect(clean).toBe(clean.trim())
        expect(cleanName(clean, limit)).toBe(clean)
      },
    ),
  )
})

test('a unique name differs from all others without regard to case and fits the limit', () => {
  const name = fc.stringMatching(/^[aAbB🦋]{1,8}$/u).map((text) => cleanName(text, 8))
  fc.assert(
    fc.property(name, fc.array(name, { maxLength: 30 }), (wanted, others) => {
      const taken: string[] = []
      for (const other of [...others, wanted]) taken.push(uniqueName(other, taken, 8))
      expect(new Set(taken.map((one) => one.toLowerCase())).size).toBe(taken.length)
      for (const one of taken) {
        expect(one.length).toBeLessThanOrEqual(8)
        expect(one).not.toMatch(/\p{Cs}/u)
      }
    }),
  )
})

test('the second Mia is Mia 2', () => {
  expect(uniqueName('Mia', ['Mia'], 32)).toBe('Mia 2')
  expect(uniqueName('Mia', ['MIA', 'Mia 2'], 32)).toBe('Mia 3')
  expect(uniqueName('Mia', ['Mia 2'], 32)).toBe('Mia')
})

test('there are 1024 made-up names, all clean', () => {
  const made = Array.from({ length: 1024 }, (_, seed) => madeUpName(seed))
  expect(new Set(made).size).toBe(1024)
  for (const name of made) expect(cleanName(name, 32)).toBe(name)
  expect(madeUpName(2 ** 31 + 5)).toBe(madeUpName(5))
})
