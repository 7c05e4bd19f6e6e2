/**
 * Aggregations that a minority of bad updates cannot carry away. Pure: from the contributions of all counted members to one chunk of the vector.
 * What is not a finite number is left out, element by element.
 */
import { ArgumentError } from '../base/errors.ts'

export type RobustAggregation =
  /** Of each element, the middle value (Yin et al. 2018, "Byzantine-Robust Distributed Learning", Definition 1). */
  | { readonly kind: 'median' }
  /** Of each element, the mean without the `trim` largest and smallest parts, 0 .. 0.5 (there, Definition 2). Default 0.3. */
  | { readonly kind: 'trimmed-mean'; readonly trim?: number }
  /**
   * v += mean(clip(update - v, radius)), a few times, from the aggregate of the last round (Karimireddy et al. 2021, "Learning from History for Byzantine
   * Robust Optimization", eq. 6). Default radius: the median of all distances, anew each time; default 3 iterations.
   */
  | { readonly kind: 'centred-clipping'; readonly radius?: number; readonly iterations?: number }

export const defaults = { trim: 0.3, iterations: 3 }

export function assertRobust(aggregation: RobustAggregation): void {
  if (aggregation.kind === 'trimmed-mean') {
    const { trim = defaults.trim } = aggregation
    if (!(trim >= 0 && trim < 0.5))
      throw new ArgumentError('aggregate.trim', 'Pass a part of 0 or more and less than 0.5.')
  }
  if (aggregation.kind === 'centred-clipping') {
    const { radius = 1, iterations = defaults.iterations } = aggregation
    if (!(radius > 0)) throw new ArgumentError('aggregate.radius', 'Pass a positive distance.')
    if (!Number.isSafeInteger(iterations) || iterations < 1 || iterations > 100)
      throw new ArgumentError('aggregate.iterations', 'Pass a whole number from 1 to 100.')
  }
}

/** Element by element, the mean of the sorted values without `cut(n)` of them at either end. */
function meanOfMiddle(
  rows: readonly Float32Array[],
  count: number,
  cut: (n: number) => number,
): Float32Array {
  const result = new Float32Array(count)
  const column = new Float64Array(rows.length)
  for (let i = 0; i < count; i++) {
    let n = 0
    for (const row of rows) {
      const value = row[i]!
      if (value - value === 0) column[n++] = value
    }
    const values = column.subarray(0, n).sort()
    const drop = cut(n)
    let sum = 0
    for (let j = drop; j < n - drop; j++) sum += values[j]!
    result[i] = n === 0 ? 0 : sum / (n - 2 * drop)
  }
  return result
}

export function coordinateMedian(rows: readonly Float32Array[], count: number): Float32Array {
  return meanOfMiddle(rows, count, (n) => Math.max(0, (n - 1) >> 1))
}

export function trimmedMean(rows: readonly Float32Array[], count: number, trim: number): Float32Array {
  return meanOfMiddle(rows, count, (n) => Math.min(Math.ceil(trim * n), (n - 1) >> 1))
}

/** This chunk's part of the squared distance of each contribution from the centre; NaN where it is not finite. */
export function squaredDistances(rows: readonly Float32Array[], centre: Float32Array): Float64Array {
  return Float64Array.from(rows, (row) => {
    let square = 0
    for (let i = 0; i < centre.length; i++) square += (row[i]! - centre[i]!) ** 2
    return square
  })
}

/** How much each contribution pulls the centre: all of its distance or the radius, whichever is less; nothing when it is not finite. */
export function pullsOf(squares: ArrayLike<number>, radius: number | undefined): Float64Array {
  const distances = Array.from(squares, Math.sqrt)
  const known = distances.filter(Number.isFinite).sort((a, b) => a - b)
  const limit = radius ?? known[(known.length - 1) >> 1] ?? 0
  return Float64Array.from(distances, (distance) =>
    Number.isFinite(distance) ? (distance > limit ? limit / distance : 1) / known.length : 0,
  )
}

/** The next centre of this chunk. */
export function pullCentre(
  rows: readonly Float32Array[],
  centre: Float32Array,
  pulls: ArrayLike<number>,
): Float32Array {
  const next = Float64Array.from(centre)
  for (const [k, row] of rows.entries()) {
    const pull = pulls[k]!
    if (pull > 0) for (let i = 0; i < next.length; i++) next[i] = next[i]! + pull * (row[i]! - centre[i]!)
  }
  return Float32Array.from(next)
}
