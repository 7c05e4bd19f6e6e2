/**
 * Folds that the caller brings. A fold must be associative: operands are combined in groups that depend on the algorithm, and
 * unless it is commutative always in the order of the ranks.
 */
import { ArgumentError } from '../base/errors.ts'
import type { BigArray, DTypeInfo, NumericArray, VectorArray } from './dtype.ts'
import { halfOf } from './half.ts'
import type { Combine } from './kernels.ts'

type ElementOf<T extends VectorArray> = T extends BigArray ? bigint : number
type WordsOf<T extends VectorArray> = T extends NumericArray ? T : Uint16Array

interface FoldBase {
  /** All ranks must agree on it: functions cannot be compared, names can. */
  readonly name?: string
  /** Default false: then fewer algorithms may run. */
  readonly commutative?: boolean
  /**
   * Address of a module whose default export is this fold. A group in a worker takes it from there: functions cannot be passed to another thread.
   */
  readonly module?: string | URL
}

/** Element by element. f16 and bf16 come as numbers; what is returned is rounded or wrapped as a typed array does. */
export interface ElementFold<T extends VectorArray> extends FoldBase {
  /** combine(identity, x) is x: checked with the caller's first element before anything is sent. */
  readonly identity?: ElementOf<T>
  combine(left: ElementOf<T>, right: ElementOf<T>): ElementOf<T>
}

/**
 * Stretches of elements at once: each record of `into` becomes record (+) the record at its place in `from`. f16 and bf16 come as the words of
 * a Uint16Array.
 */
export interface SegmentFold<T extends VectorArray> extends FoldBase {
  /** Elements that belong together and are never parted: 4 for 2 x 2 matrices. Default 1. */
  readonly record?: number
  /** A record that changes nothing: checked with the caller's first one before anything is sent. */
  readonly identity?: ElementOf<T> | readonly ElementOf<T>[]
  combineInto(into: WordsOf<T>, from: WordsOf<T>): void
}

export type Fold<T extends VectorArray = NumericArray> = ElementFold<T> | SegmentFold<T>

/** @throws ArgumentError when it is no fold */
export function combineOf(fold: Fold, dtype: DTypeInfo): Combine {
  if ('combineInto' in fold && typeof fold.combineInto === 'function') return segmentCombine(fold)
  if ('combine' in fold && typeof fold.combine === 'function') return elementCombine(fold, dtype)
  throw new ArgumentError(
    'op',
    'A fold has combine(left, right), which returns an element, or combineInto(into, from).',
  )
}

function segmentCombine(fold: SegmentFold<NumericArray>): Combine {
  return (out, left, right) => {
    if (out.buffer === right.buffer && out.byteOffset === right.byteOffset) {
      // The right operand stands where the result goes: fold into a copy of the left one.
      const into = left.slice()
      fold.combineInto(into, right)
      copy(out, into)
      return
    }
    copy(out, left)
    fold.combineInto(out, right)
  }
}

function copy(to: NumericArray, from: NumericArray): void {
  if (to.buffer === from.buffer && to.byteOffset === from.byteOffset) return
  new Uint8Array(to.buffer, to.byteOffset, to.byteLength).set(
    new Uint8Array(from.buffer, from.byteOffset, from.byteLength),
  )
}

function elementCombine(fold: ElementFold<NumericArray>, dtype: DTypeInfo): Combine {
  const half = halfOf(dtype.name)
  if (half)
    return (out, left, right) => {
      for (let i = 0; i < out.length; i++)
        out[i] = half.toWord(
          Number(fold.combine(half.toNumber(Number(left[i])), half.toNumber(Number(right[i])))),
        )
    }
  return (out, left, right) => {
    for (let i = 0; i < out.length; i++) out[i] = fold.combine(left[i]!, right[i]!)
  }
}

/** Elements that a fold combines as one. */
export function recordOf(fold: Fold): number {
  const record = 'record' in fold ? (fold.record ?? 1) : 1
  if (Number.isSafeInteger(record) && record >= 1) return record
  throw new ArgumentError(
    'op',
    `The record of a fold is a whole number of elements, at least 1, not ${record}.`,
  )
}

/** @throws ArgumentError when identity (+) first is not the first record of `data` */
export function checkIdentity(fold: Fold, dtype: DTypeInfo, data: NumericArray): void {
  const { identity } = fold
  const record = recordOf(fold)
  if (identity === undefined || data.length < record) return
  const half = halfOf(dtype.name)
  const valuesOf = (array: NumericArray) =>
    Array.from({ length: record }, (_, i) => (half ? half.toNumber(Number(array[i])) : array[i]!))
  const left = dtype.create(record)
  for (let i = 0; i < record; i++) {
    const value = typeof identity === 'object' ? identity[i] : identity
    left[i] = (half ? half.toWord(Number(value)) : value) as never
  }
  const out = dtype.create(record)
  combineOf(fold, dtype)(out, left, data.subarray(0, record))
  const [first, got] = [valuesOf(data), valuesOf(out)]
  // Not Object.is: 0 + -0 is 0.
  if (first.every((value, i) => value === got[i] || Number.isNaN(Number(value)))) return
  throw new ArgumentError(
    'op',
    `combine(identity, x) must be x, but with identity ${identity} and x ${first} it is ${got}.`,
  )
}
