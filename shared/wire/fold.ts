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

interface FoldBase<Element> {
  /** All ranks must agree on it: functions cannot be compared, names can. */
  readonly name?: string
  /** combine(identity, x) is x: checked with the caller's first element before anything is sent. */
  readonly identity?: Element
  /** Default false: then fewer algorithms may run. */
  readonly commutative?: boolean
}

/** Element by element. f16 and bf16 come as numbers; what is returned is rounded or wrapped as a typed array does. */
export interface ElementFold<T extends VectorArray> extends FoldBase<ElementOf<T>> {
  combine(left: ElementOf<T>, right: ElementOf<T>): ElementOf<T>
}

/**
 * Stretches of elements at once: into[i] becomes into[i] (+) from[i]; nothing else may be written, and no element may depend on another's.
 * f16 and bf16 come as the words of a Uint16Array.
 */
export interface SegmentFold<T extends VectorArray> extends FoldBase<ElementOf<T>> {
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

/** @throws ArgumentError when combine(identity, first) is not the first element */
export function checkIdentity(fold: Fold, dtype: DTypeInfo, data: NumericArray): void {
  if (fold.identity === undefined || data.length === 0) return
  const first = data.subarray(0, 1)
  const left = dtype.create(1)
  const half = halfOf(dtype.name)
  left.fill((half ? half.toWord(Number(fold.identity)) : fold.identity) as never)
  const out = dtype.create(1)
  combineOf(fold, dtype)(out, left, first)
  const value = (array: NumericArray) => (half ? half.toNumber(Number(array[0])) : array[0])
  // Not Object.is: 0 + -0 is 0.
  if (value(out) === value(first) || Number.isNaN(Number(value(first)))) return
  throw new ArgumentError(
    'op',
    `combine(identity, x) must be x, but with identity ${fold.identity} and x ${value(first)} it is ${value(out)}.`,
  )
}
