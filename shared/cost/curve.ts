/**
 * The time of one message by its size. Only + - * / are used, so that every rank computes the same bits from the same
 * points (Math.log and friends may differ between engines).
 */
import { assert } from '../base/assert.ts'
import type { CurvePoint, LinkCurve } from './types.ts'

/**
 * Seconds per byte beyond the last point: what is known of it, or the slope of the last segment, or where that is
 * flat the mean so far.
 */
export function tailBeta(curve: LinkCurve): number {
  if (curve.tail !== undefined) return curve.tail
  const last = curve.points[curve.points.length - 1]
  assert(last, 'a curve has at least one point')
  const before = curve.points[curve.points.length - 2]
  const slope = before ? (last.seconds - before.seconds) / (last.bytes - before.bytes) : 0
  return slope > 0 ? slope : curve.beta > 0 ? curve.beta : last.seconds / last.bytes
}

/**
 * Seconds one way for a lone message of `bytes` bytes. Linear between the points, constant below the first, and
 * beyond the last the slope of the tail: no straight line is assumed where windows rule.
 */
export function curveTime(curve: LinkCurve, bytes: number): number {
  const { points } = curve
  const first = points[0]
  assert(first, 'a curve has at least one point')
  if (bytes <= first.bytes) return first.seconds
  for (let i = 1; i < points.length; i++) {
    const low = points[i - 1]!
    const high = points[i]!
    if (bytes <= high.bytes)
      return low.seconds + ((high.seconds - low.seconds) * (bytes - low.bytes)) / (high.bytes - low.bytes)
  }
  const last = points[points.length - 1]!
  return last.seconds + (bytes - last.bytes) * tailBeta(curve)
}

/**
 * The curve with a tail that no window distorts: the measured one, or a guess. Between the last two points a window that doubles may have cost a
 * round trip per doubling, which later bytes do not pay again; but the tail is never flatter than `least`, the
 * seconds per byte of the hosts at its ends.
 */
export function withTail(curve: LinkCurve, least: number): LinkCurve {
  if (curve.tail !== undefined) return { ...curve, tail: Math.max(least, curve.tail) }
  const last = curve.points[curve.points.length - 1]!
  const before = curve.points[curve.points.length - 2]
  if (!before) return curve
  let doublings = 0
  for (let bytes = before.bytes; bytes < last.bytes; bytes *= 2) doublings++
  const windows = (2 * latencyOf(curve) * doublings) / (last.bytes - before.bytes)
  return { ...curve, tail: Math.max(least, tailBeta(curve) - windows) }
}

/** Seconds one way for a message of no size: the latency of the link. */
export function latencyOf(curve: LinkCurve): number {
  return curve.points[0]!.seconds
}

/**
 * Least non-decreasing values above the given ones in the least-squares sense (pool adjacent violators): a bigger
 * message is never faster, so where noise says so both take their mean.
 */
function isotonic(values: readonly number[]): number[] {
  const pools: { mean: number; count: number }[] = []
  for (const value of values) {
    let pool = { mean: value, count: 1 }
    for (let last = pools[pools.length - 1]; last && last.mean > pool.mean; last = pools[pools.length - 1]) {
      const count = last.count + pool.count
      pool = { mean: (last.mean * last.count + pool.mean * pool.count) / count, count }
      pools.pop()
    }
    pools.push(pool)
  }
  return pools.flatMap(({ mean, count }) => new Array<number>(count).fill(mean))
}

/**
 * The line alpha + beta * bytes with the least squared *relative* error: sizes span four decades, and absolute errors
 * would let the largest alone decide. Neither coefficient is negative.
 */
function fitLine(points: readonly CurvePoint[]): { alpha: number; beta: number; residual: number } {
  let [w, wx, wxx, wy, wxy] = [0, 0, 0, 0, 0]
  for (const { bytes, seconds } of points) {
    const weight = 1 / (seconds * seconds)
    w += weight
    wx += weight * bytes
    wxx += weight * bytes * bytes
    wy += weight * seconds
    wxy += weight * bytes * seconds
  }
  const determinant = w * wxx - wx * wx
  let alpha = wy / w
  let beta = 0
  if (points.length > 1 && determinant > 0) {
    beta = (w * wxy - wx * wy) / determinant
    alpha = (wy - beta * wx) / w
    if (beta < 0) [alpha, beta] = [wy / w, 0]
    if (alpha < 0) [alpha, beta] = [0, wxy / wxx]
  }
  let sum = 0
  for (const { bytes, seconds } of points) {
    const error = (alpha + beta * bytes) / seconds - 1
    sum += error * error
  }
  return { alpha, beta, residual: Math.sqrt(sum / points.length) }
}

/** A curve through points that ascend in bytes; seconds are made non-decreasing. */
export function curveThrough(points: readonly CurvePoint[], confidence: number): LinkCurve {
  assert(points.length > 0, 'a curve has at least one point')
  const seconds = isotonic(points.map((point) => point.seconds))
  const fitted = points.map((point, i) => ({ bytes: point.bytes, seconds: seconds[i]! }))
  return { points: fitted, ...fitLine(fitted), confidence }
}
