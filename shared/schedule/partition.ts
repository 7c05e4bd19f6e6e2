/** Where the chunks of a schedule lie in a vector: the one place that turns chunk numbers into element offsets. */
import { assert } from '../base/assert.ts'
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

/**
 * The same where ranks have parts of unlike lengths, for collectives whose chunks have owners (collectives.ts): rank k's part is
 * elements bounds[k] .. bounds[k + 1], and its chunks cut it as evenly as can be.
 */
export function offsetsByRank(
  { chunks, size }: Pick<ScheduleShape, 'chunks' | 'size'>,
  bounds: readonly number[],
): number[] {
  const pieces = chunks / size
  assert(Number.isInteger(pieces), `${chunks} chunks are as many for each of ${size} ranks`)
  return Array.from({ length: chunks + 1 }, (_, chunk) => {
    const rank = Math.floor(chunk / pieces)
    if (rank === size) return bounds[size]!
    const length = bounds[rank + 1]! - bounds[rank]!
    return bounds[rank]! + Math.floor(((chunk - rank * pieces) * length) / pieces)
  })
}
