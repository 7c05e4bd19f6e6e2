/** Where the chunks of a schedule lie in a vector: the one place that turns chunk numbers into element offsets. */
import type { ScheduleShape } from './types.ts'

/**
 * Offsets in elements: chunk c of a vector of `count` elements is offsets[c] .. offsets[c + 1]. Even cuts differ by at most one
 * element; with fewer elements than chunks some chunks are empty.
 */
export function chunkBounds(shape: Pick<ScheduleShape, 'chunks' | 'cuts'>, count: number): number[] {
  const { chunks, cuts } = shape
  return Array.from({ length: chunks + 1 }, (_, c) =>
    cuts ? Math.round(cuts[c]! * count) : Math.floor((c * count) / chunks),
  )
}
