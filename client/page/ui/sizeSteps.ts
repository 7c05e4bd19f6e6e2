/** Positions of the size slider: 0 B, then 4 B to 64 MiB in half powers of two, rounded to whole float64 elements from 64 B on. */
import { maxBytes } from '../session/runSpec.ts'

const first = 2
export const lastPosition = 2 * (Math.log2(maxBytes) - first) + 1

export function bytesAt(position: number): number {
  if (position <= 0) return 0
  const exact = 2 ** (first + (Math.min(position, lastPosition) - 1) / 2)
  const grain = exact >= 64 ? 8 : 4
  return Math.round(exact / grain) * grain
}

/** The position that is nearest on the scale. */
export function positionOf(bytes: number): number {
  if (bytes < 2 ** (first - 1)) return 0
  return Math.min(lastPosition, Math.max(1, Math.round(2 * (Math.log2(bytes) - first)) + 1))
}
