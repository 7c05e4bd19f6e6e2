/** Positions of the size slider: 0 B, then powers of two from 4 B on, from 64 B to 64 MiB with one size between, rounded to 8 B. */
import { maxBytes } from '../../session/runSpec.ts'

const sizes: readonly number[] = [
  0,
  ...[4, 8, 16, 32],
  ...Array.from(
    { length: 2 * Math.log2(maxBytes / 64) + 1 },
    (_, i) => Math.round((64 * 2 ** (i / 2)) / 8) * 8,
  ),
]
export const lastPosition = sizes.length - 1

export function bytesAt(position: number): number {
  return sizes[Math.min(lastPosition, Math.max(0, Math.round(position)))]!
}

/** The position whose size is nearest on the scale. */
export function positionOf(bytes: number): number {
  const distance = (size: number) => Math.abs(Math.log2(size + 1) - Math.log2(bytes + 1))
  return sizes.reduce((best, size, i) => (distance(size) < distance(sizes[best]!) ? i : best), 0)
}
