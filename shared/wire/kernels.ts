/**
 * Combining and finishing values. Every kernel is out[i] = left[i] (+) right[i] for i < out.length; `out` may be one of the operands.
 *
 * Defined results: sums of integers wrap modulo 2^32; min and max of floats give NaN when an operand is NaN, and -0 < +0
 * (Math.min, Math.max), so that no result depends on the operand order; the mean of floats is sum / P, rounded once; the mean of integers
 * is the wrapped sum / P, cut towards zero.
 */
import type { NumericArray } from './dtype.ts'
import type { OperatorName } from './operator.ts'

export type Combine = (out: NumericArray, left: NumericArray, right: NumericArray) => void

const sum: Combine = (out, left, right) => {
  for (let i = 0; i < out.length; i++) out[i] = left[i]! + right[i]!
}
const min: Combine = (out, left, right) => {
  for (let i = 0; i < out.length; i++) out[i] = Math.min(left[i]!, right[i]!)
}
const max: Combine = (out, left, right) => {
  for (let i = 0; i < out.length; i++) out[i] = Math.max(left[i]!, right[i]!)
}

export interface Operator {
  readonly name: OperatorName
  readonly combine: Combine
  /** A contribution may be counted twice. */
  readonly idempotent: boolean
  /** The result of floats depends on the order of the operands. */
  readonly rounds: boolean
  /** Turns the fold of `size` contributions into the result, in place. */
  finish?(result: NumericArray, size: number): void
}

const mean = (result: NumericArray, size: number) => {
  for (let i = 0; i < result.length; i++) result[i] = result[i]! / size
}

export const operators: Readonly<Record<OperatorName, Operator>> = {
  sum: { name: 'sum', combine: sum, idempotent: false, rounds: true },
  mean: { name: 'mean', combine: sum, idempotent: false, rounds: true, finish: mean },
  min: { name: 'min', combine: min, idempotent: true, rounds: false },
  max: { name: 'max', combine: max, idempotent: true, rounds: false },
}

/** Seconds to combine one byte on this machine: the best of `repeats` runs over 256 KiB, so that a pause does not count. */
export function measureGamma(now: () => number, repeats = 7): number {
  const length = 65536
  const out = new Float32Array(length)
  const other = new Float32Array(length).fill(1)
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < repeats; i++) {
    const begin = now()
    for (let inner = 0; inner < 4; inner++) sum(out, out, other)
    best = Math.min(best, now() - begin)
  }
  return best / (4 * length * 4)
}
