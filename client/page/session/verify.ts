/**
 * Is the result right? Every rank computes the reference of the contributors itself, block by block, and counts the
 * elements outside the bound.
 *
 * Bound: whole numbers, integers, min and max have none (every element must be equal). A float sum of P values in any order
 * differs from the exact sum by at most gamma(P - 1) * sum |x|, gamma(n) = n u / (1 - n u), u = 2^-24 or 2^-53 (Higham,
 * Accuracy and Stability of Numerical Algorithms, eq. 4.4); a mean rounds once more. The reference is a float64 sum, for float64
 * results a compensated one.
 */
import { dtypes, type NumberArray } from '../../../shared/wire/dtype.ts'
import type { RunSpec } from './runSpec.ts'
import { type DataKind, fillVector } from './vectors.ts'

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

export function isExact(reference: Reference): boolean {
  const { kind, dtype, op } = reference
  return kind === 'whole' || !dtypes[dtype].isFloat || op === 'min' || op === 'max'
}

interface Fold {
  readonly value: Float64Array
  /** What rounding took from `value` so far. */
  readonly rest: Float64Array
  /** Sum of the absolute values. */
  readonly size: Float64Array
}

function addTo(fold: Fold, block: NumberArray): void {
  for (let i = 0; i < block.length; i++) {
    const x = block[i]!
    const before = fold.value[i]!
    const sum = before + x
    const part = sum - before
    fold.rest[i]! += before - (sum - part) + (x - part)
    fold.value[i] = sum
    fold.size[i]! += Math.abs(x)
  }
}

function selectInto(fold: Fold, block: NumberArray, select: (a: number, b: number) => number): void {
  for (let i = 0; i < block.length; i++) fold.value[i] = select(fold.value[i]!, block[i]!)
}

/** Folds elements first .. first + length of all contributors. */
function foldBlock(reference: Reference, fold: Fold, block: NumberArray, first: number): void {
  const { op, kind, streams } = reference
  const select = op === 'min' ? Math.min : op === 'max' ? Math.max : undefined
  fold.value.fill(op === 'min' ? Number.POSITIVE_INFINITY : op === 'max' ? Number.NEGATIVE_INFINITY : 0)
  fold.rest.fill(0)
  fold.size.fill(0)
  for (const stream of streams) {
    fillVector(block, stream, kind, first)
    if (select) selectInto(fold, block, select)
    else addTo(fold, block)
  }
}

/** The element that must come out, and how far off it may be. */
function createRule(reference: Reference): (fold: Fold, i: number) => { want: number; bound: number } {
  const { op, dtype, streams } = reference
  const size = streams.length
  const divide = op === 'mean' ? size : 1
  if (dtype === 'i32')
    return op === 'sum' || op === 'mean'
      ? (fold, i) => ({ want: Math.trunc((fold.value[i]! | 0) / divide), bound: 0 })
      : (fold, i) => ({ want: fold.value[i]!, bound: 0 })
  const round = dtype === 'f32' ? Math.fround : (x: number) => x
  if (isExact(reference)) return (fold, i) => ({ want: round(fold.value[i]! / divide), bound: 0 })
  const unit = dtype === 'f32' ? 2 ** -24 : 2 ** -53
  const gamma = ((size - 1) * unit) / (1 - (size - 1) * unit)
  return (fold, i) => {
    const want = (fold.value[i]! + fold.rest[i]!) / divide
    // The last rounding of a mean, and that of a float64 reference to one number.
    const rounding = divide > 1 || dtype === 'f64' ? unit * Math.abs(want) : 0
    return { want, bound: (gamma * fold.size[i]!) / divide + rounding * (1 + gamma) }
  }
}

/**
 * Counts the elements of `result` that are outside the bound. `breathe` is awaited after each block of 8192 elements, so that a
 * page stays alive.
 */
export async function verify(
  result: NumberArray,
  reference: Reference,
  breathe: () => Promise<void> | undefined = () => undefined,
): Promise<Verdict> {
  const length = Math.min(blockLength, result.length)
  const fold: Fold = {
    value: new Float64Array(length),
    rest: new Float64Array(length),
    size: new Float64Array(length),
  }
  const block = dtypes[reference.dtype].create(length)
  const rule = createRule(reference)
  let wrong = 0
  let largestError = 0
  let firstWrong: Verdict['firstWrong']
  for (let first = 0; first < result.length; first += blockLength) {
    const here = Math.min(blockLength, result.length - first)
    foldBlock(reference, fold, block.subarray(0, here), first)
    for (let i = 0; i < here; i++) {
      const { want, bound } = rule(fold, i)
      const got = result[first + i]!
      const error = Math.abs(got - want)
      if (error <= bound) {
        if (error > largestError * bound) largestError = error / bound
        continue
      }
      wrong++
      firstWrong ??= { index: first + i, got, want }
    }
    const pause = breathe()
    if (pause !== undefined) await pause
  }
  return { wrong, exact: isExact(reference), largestError, ...(firstWrong ? { firstWrong } : {}) }
}
