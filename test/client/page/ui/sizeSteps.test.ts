import { expect, it } from 'vitest'
import { bytesAt, lastPosition, positionOf } from '../../../../client/page/ui/sizeSteps.ts'

it('slider positions run from 0 B to 64 MiB and come back to themselves', () => {
  const sizes = Array.from({ length: lastPosition + 1 }, (_, position) => bytesAt(position))
  expect(sizes[0]).toBe(0)
  expect(sizes[1]).toBe(4)
  expect(sizes.at(-1)).toBe(64 << 20)
  expect(sizes).toContain(1 << 20)
  expect(sizes).toEqual([...new Set(sizes)].sort((a, b) => a - b))
  expect(sizes.map(positionOf)).toEqual(sizes.map((_, position) => position))
  expect(sizes.every((bytes) => bytes % 4 === 0)).toBe(true)
})

it('any size has a position', () => {
  expect([0, 1, 3, 100_000_000].map(positionOf)).toEqual([0, 0, 1, lastPosition])
  expect(bytesAt(positionOf(425))).toBe(360)
})
