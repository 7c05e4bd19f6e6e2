/**
 * Is the result right? Every rank computes the reference of the contributors itself, block by block, and counts the
 * elements outside the bound.
 *
 * Bound: integers, min and max have none (every element must be equal to a plain fold in rank order), nor have sums of whole numbers
 * that fit the type. A float sum of P values in any order differs from the exact sum by at most gamma(P - 1) * sum |x|,
 * gamma(n) = n u / (1 - n u), u = 2^-8, 2^-11, 2^-24 or 2^-53 (Higham, Accuracy and Stability of Numerical Algorithms,
 * eq. 4.4); a mean rounds once more. The reference is a float64 sum, for float64 results a compensated one.
 */
import { dtypes, type NumericArray } from '../../shared/wire/dtype.ts'
import { halfOf } from '../../shared/wire/half.ts'
import { kernels } from '../../shared/wire/kernels.ts'
import { resolveOperator } from '../../shared/wire/resolve.ts'
import type { RunSpec } from './runSpec.ts'
import { type DataKind, fillVector, largestWhole } from './vectors.ts'

export interface Reference {
  readonly op: RunSpec['op']
  readonly dtype: RunSpec['dtype']
  readonly kind: DataKind
  /** One per contributor (`streamOf`). */
  readonly streams: readonly number[]
}

export interface Verdict {
  /** Elements outside the bound. */
  readonly wrong: number
  /** No rounding is allowed at all. */
  readonly exact: boolean
  /** Largest error as a fraction of its bound; 0 when exact. */
  readonly largestError: number
  readonly firstWrong?: { readonly index: number; readonly got: number; readonly want: number }
}

const blockLength = 8192

/** Half a unit in the last place of 1, and the smallest number that is not 0. */
const precision = {
  bf16: { unit: 2 ** -8, smallest: 2 ** -133 },
  f16: { unit: 2 ** -11, smallest: 2 ** -24 },
  f32: { unit: 2 ** -24, smallest: 2 ** -149 },
  f64: { unit: 2 ** -53, smallest: 2 ** -1074 },
} as const
type FloatName = keyof typeof precision
const isFloat = (dtype: RunSpec['dtype']): dtype is FloatName => dtypes[dtype].isFloat

export function isExact({ dtype, kind, op, streams }: Reference): boolean {
  if (!isFloat(dtype) || op === 'min' || op === 'max') return true
  return kind === 'whole' && streams.length * largestWhole[dtype] <= 1 / precision[dtype].unit
}

/** What must come out at element i of a block, and how far off it may be. */
interface Expected {
  /** Prepares elements first .. first + length. */
  load(first: number, length: number): void
  at(i: number): { readonly want: number | bigint; readonly bound: number }
}

/** Everything that does not round: folded in rank order with the loops of the library, not with what a group uses. */
function expectSame({ op, dtype, kind, streams }: Reference): Expected {
  const { finish } = resolveOperator(op, dtypes[dtype])
  const combine = kernels[dtype][op === 'mean' ? 'sum' : op]!
  const half = halfOf(dtype)
  const fold = dtypes[dtype].create(blockLength)
  const block = dtypes[dtype].create(blockLength)
  return {
    load(first, length) {
      const out = fold.subarray(0, length)
      const next = block.subarray(0, length)
      for (const [i, stream] of streams.entries()) {
        fillVector(dtype, i === 0 ? out : next, stream, kind, first)
        if (i > 0) combine(out, out, next)
      }
      finish?.(out, streams.length)
    },
    at: (i) => ({ want: half ? half.toNumber(Number(fold[i])) : fold[i]!, bound: 0 }),
  }
}

/** Sums and means of floats. */
function expectNear(reference: Reference & { readonly dtype: FloatName }): Expected {
  const { op, dtype, kind, streams } = reference
  const size = streams.length
  const divide = op === 'mean' ? size : 1
  const half = halfOf(dtype)
  const block = dtypes[dtype].create(blockLength)
  const value = new Float64Array(blockLength)
  /** What rounding took from `value` so far. */
  const rest = new Float64Array(blockLength)
  /** Sum of the absolute values. */
  const magnitude = new Float64Array(blockLength)
  const exact = isExact(reference)
  const round = half
    ? (x: number) => half.toNumber(half.toWord(x))
    : dtype === 'f32'
      ? Math.fround
      : (x: number) => x
  const { unit, smallest } = precision[dtype]
  const gamma = ((size - 1) * unit) / (1 - (size - 1) * unit)
  return {
    load(first, length) {
      for (const sums of [value, rest, magnitude]) sums.fill(0)
      for (const stream of streams) {
        const part = block.subarray(0, length)
        fillVector(dtype, part, stream, kind, first)
        for (let i = 0; i < length; i++) {
          const x = half ? half.toNumber(part[i]!) : part[i]!
          const before = value[i]!
          const sum = before + x
          const added = sum - before
          rest[i]! += before - (sum - added) + (x - added)
          value[i] = sum
          magnitude[i]! += Math.abs(x)
        }
      }
    },
    at(i) {
      if (exact) return { want: round(value[i]! / divide), bound: 0 }
      const want = (value[i]! + rest[i]!) / divide
      // The last rounding of a mean, and that of a float64 reference to one number.
      const rounding = divide > 1 || dtype === 'f64' ? unit * Math.abs(want) + smallest : 0
      return { want, bound: (gamma * magnitude[i]!) / divide + rounding * (1 + gamma) }
    },
  }
}

/**
 * Counts the elements of `result` that are outside the bound. `breathe` is awaited after each block of 8192 elements, so that a
 * page stays alive.
 */
export async function verify(
  result: NumericArray,
  reference: Reference,
  breathe: () => Promise<void> | undefined = () => undefined,
): Promise<Verdict> {
  const { dtype, op } = reference
  const isSum = op === 'sum' || op === 'mean'
  const expected = isFloat(dtype) && isSum ? expectNear({ ...reference, dtype }) : expectSame(reference)
  const half = halfOf(dtype)
  let wrong = 0
  let largestError = 0
  let firstWrong: Verdict['firstWrong']
  for (let first = 0; first < result.length; first += blockLength) {
    const here = Math.min(blockLength, result.length - first)
    expected.load(first, here)
    for (let i = 0; i < here; i++) {
      const { want, bound } = expected.at(i)
      const got = half ? half.toNumber(Number(result[first + i])) : result[first + i]!
      if (got === want) continue
      const error = Math.abs(Number(got) - Number(want))
      if (bound > 0 && error <= bound) {
        largestError = Math.max(largestError, error / bound)
        continue
      }
      wrong++
      firstWrong ??= { index: first + i, got: Number(got), want: Number(want) }
    }
    const pause = breathe()
    if (pause !== undefined) await pause
  }
  return { wrong, exact: isExact(reference), largestError, ...(firstWrong ? { firstWrong } : {}) }
}
