/** Several measurements of the same thing as a few numbers. */
export interface Spread {
  readonly min: number
  readonly max: number
  readonly avg: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  /** Of the sample (n - 1); 0 for a single one. */
  readonly stdev: number
}

/** @param values at least one */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const avg = sorted.reduce((sum, value) => sum + value, 0) / sorted.length
  const squares = sorted.reduce((sum, value) => sum + (value - avg) ** 2, 0)
  return {
    min: sorted[0]!,
    max: sorted.at(-1)!,
    avg,
    p50: quantileOf(sorted, 0.5),
    p95: quantileOf(sorted, 0.95),
    p99: quantileOf(sorted, 0.99),
    stdev: sorted.length > 1 ? Math.sqrt(squares / (sorted.length - 1)) : 0,
  }
}

/** Between the two nearest ones. */
function quantileOf(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1)
  const below = Math.floor(place)
  const low = sorted[below]!
  return low + (place - below) * ((sorted[below + 1] ?? low) - low)
}
