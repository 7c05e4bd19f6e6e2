import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bf16, f16 } from '../../../shared/wire/half.ts'

/** The nearest finite or infinite value of a format, by its definition: search among all words. */
function nearest(half: typeof f16, value: number, infinity: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const magnitude = Math.abs(value)
  let low = 0
  let high = infinity
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (half.toNumber(middle) <= magnitude) low = middle
    else high = middle
  }
  // The step beyond the largest finite value is as wide as the one before it.
  const below = half.toNumber(low)
  const above = high === infinity ? below + (below - half.toNumber(low - 1)) : half.toNumber(high)
  const [toLow, toHigh] = [magnitude - below, above - magnitude]
  return sign | (toLow < toHigh || (toLow === toHigh && low % 2 === 0) ? low : high)
}

const float32 = fc.float({ noNaN: true }).map(Math.fround)

describe.each([
  ['f16', f16, 0x7c00, 2 ** -24, 65504],
  ['bf16', bf16, 0x7f80, 2 ** -133, (2 - 2 ** -7) * 2 ** 127],
] as const)('%s', (_, half, infinity, smallest, largest) => {
  it('words come back as they were, one NaN for all', () => {
    for (let word = 0; word < 65536; word++) {
      const isNaNWord = (word & 0x7fff) > infinity
      const back = half.toWord(half.toNumber(word))
      if (isNaNWord) expect(Number.isNaN(half.toNumber(word)) && (back & 0x7fff) > infinity).toBe(true)
      else if (back !== word) expect(back).toBe(word)
    }
    expect(half.toNumber(1)).toBe(smallest)
    expect(half.toNumber(infinity - 1)).toBe(largest)
    expect(half.toNumber(infinity)).toBe(Number.POSITIVE_INFINITY)
  })

  it('numbers are rounded to the nearest word, ties to even', () => {
    const anywhere = fc.oneof(
      float32,
      fc.tuple(fc.nat(infinity - 1), fc.constantFrom(0.5, 0.25, 0.75, 0.4999, 0.5001)).map(([word, part]) => {
        const low = half.toNumber(word)
        const high = word + 1 === infinity ? low + (low - half.toNumber(word - 1)) : half.toNumber(word + 1)
        return Math.fround(low + (high - low) * part)
      }),
    )
    fc.assert(
      fc.property(anywhere, fc.boolean(), (value, negative) => {
        const signed = negative ? -value : value
        if (!Number.isFinite(signed)) return
        expect(half.toWord(signed)).toBe(nearest(half, signed, infinity))
      }),
      { numRuns: 5000 },
    )
  })
})

it('f16 of pi, of the smallest number that overflows, and of ties at the edge of zero', () => {
  expect(f16.toWord(Math.PI)).toBe(0x4248)
  expect(f16.toWord(65519)).toBe(0x7bff)
  expect(f16.toWord(65520)).toBe(0x7c00)
  expect(f16.toWord(2 ** -25)).toBe(0)
  expect(f16.toWord(2 ** -25 * 1.001)).toBe(1)
  expect(f16.toWord(-(2 ** -26))).toBe(0x8000)
})
