import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chunkBounds } from '../../../shared/schedule/partition.ts'

test('even cuts', () => {
  expect(chunkBounds({ chunks: 3 }, 10)).toEqual([0, 3, 6, 10])
  expect(chunkBounds({ chunks: 4 }, 2)).toEqual([0, 0, 1, 1, 2])
  expect(chunkBounds({ chunks: 3 }, 0)).toEqual([0, 0, 0, 0])
})

test('given cuts are rounded to elements', () => {
  expect(chunkBounds({ chunks: 4, cuts: [0, 1 / 3, 1 / 2, 2 / 3, 1] }, 10)).toEqual([0, 3, 5, 7, 10])
  expect(chunkBounds({ chunks: 2, cuts: [0, 0.5, 1] }, 3)).toEqual([0, 2, 3])
})

test('chunks cover the vector in order; even ones differ by at most one element', () => {
  const chunks = fc.integer({ min: 1, max: 200 })
  const count = fc.integer({ min: 0, max: 2 ** 31 })
  fc.assert(
    fc.property(chunks, count, (chunks, count) => {
      const bounds = chunkBounds({ chunks }, count)
      const lengths = bounds.slice(1).map((end, chunk) => end - bounds[chunk]!)
      expect(bounds).toHaveLength(chunks + 1)
      expect([bounds[0], bounds.at(-1)]).toEqual([0, count])
      expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1)
    }),
  )
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }),
      count,
      (inner, count) => {
        const cuts = [0, ...inner.sort((a, b) => a - b), 1]
        const bounds = chunkBounds({ chunks: cuts.length - 1, cuts }, count)
        expect([bounds[0], bounds.at(-1)]).toEqual([0, count])
        expect([...bounds].sort((a, b) => a - b)).toEqual(bounds)
      },
    ),
  )
})
