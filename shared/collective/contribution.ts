/**
 * What a rank brings into a fold, and how the fold becomes the array that its caller gets. In between the engine sees words of
 * one dtype only.
 *
 * Weighted mean: the input is multiplied by the weight and followed by the weight itself, one element more, so that the sum has
 * sum w x and sum w of exactly the same contributors, whoever was lost on the way.
 */
import { ArgumentError, NoSamplesError, UnsupportedError } from '../base/errors.ts'
import { type Codec, codecOf, type FloatArray } from '../wire/codec.ts'
import {
  type DTypeInfo,
  dtypeOf,
  isNativeFloat16,
  type NumericArray,
  type VectorArray,
  wordsOf,
} from '../wire/dtype.ts'
import type { Feedback } from '../wire/feedback.ts'
import type { Fold } from '../wire/fold.ts'
import type { OperatorName } from '../wire/operator.ts'
import { type Operator, resolveOperator } from '../wire/resolve.ts'
import type { Vector } from './calls.ts'
import { screen } from './nonFinite.ts'
import type { AllreduceOptions } from './types.ts'

export interface Contribution<T> {
  /** Throws ArgumentError for what only this rank can know to be wrong: the others must learn of it. */
  vector(): Vector
  /**
   * The caller's array: `into`, or a new one. `isKept`: the fold is needed as it is for other ranks. Throws NoSamplesError, on all ranks
   * alike, when all weights are 0; nothing is written then.
   */
  take(size: number, isKept: boolean): T
  /** The call has failed. */
  drop(): void
}

type Options<T extends VectorArray> = Pick<
  AllreduceOptions<T>,
  'op' | 'dtype' | 'weight' | 'nonFinite' | 'wire' | 'feedback' | 'into'
>

/** Throws ArgumentError and UnsupportedError before anything is sent. */
export function contribute<T extends VectorArray>(data: T, options: Options<T>): Contribution<T> {
  const { weight, nonFinite, feedback, into } = options
  const dtype = dtypeOf(data, options.dtype)
  const words = wordsOf(data)
  if (into && (into.length !== data.length || into[Symbol.toStringTag] !== data[Symbol.toStringTag]))
    throw new ArgumentError(
      'into',
      `Pass a ${data[Symbol.toStringTag]} of ${data.length} elements, like the data.`,
    )
  // A fold of a Float16Array sees its words.
  const op = (options.op ?? (weight === undefined ? 'sum' : 'mean')) as OperatorName | Fold
  const operator = weight === undefined ? resolveOperator(op, dtype, words) : weightedMean(op, dtype)
  requireRecords(words, operator)
  const codec = codecOf(options.wire, dtype.name, operator.name)
  requireWire(codec, feedback)
  // Data of weight 0 are not used, whatever they are.
  const screened = screen(weight === 0 ? words.subarray(0, 0) : words, dtype, op, nonFinite)
  const { isDropped, note } = screened
  const own =
    weight === undefined
      ? wholeBlocks(screened.words, dtype, codec?.block ?? 1)
      : weighted(words as FloatArray, isDropped ? 0 : weight)
  const input = feedback ? feedback.borrow(own as FloatArray) : own
  const result = dtype.create(input.length)
  const residual = feedback && (dtype.create(input.length) as FloatArray)
  const vector: Vector = {
    dtype,
    count: words.length,
    data: input,
    result,
    operator,
    codec,
    residual,
    ...(nonFinite && note !== undefined && { nonFinite: { policy: nonFinite, note } }),
  }
  return {
    vector() {
      if (weight !== undefined) assertWeight(weight)
      return vector
    },
    drop: () => feedback?.give(undefined),
    take(size, isKept) {
      const total = weight === undefined ? 1 : Number(result[words.length])
      if (total === 0) throw new NoSamplesError()
      feedback?.give(residual)
      const target = into && wordsOf(into)
      const out = target ?? (isKept || result.length > words.length ? dtype.create(words.length) : result)
      if (out !== result) out.set(result.subarray(0, words.length) as never)
      if (weight !== undefined) divide(out as FloatArray, total)
      else operator.finish?.(out, size)
      return into ?? ownTypeOf(data, out)
    },
  }
}

export function requireRecords({ length }: NumericArray, { record }: Operator): void {
  if (length % record !== 0)
    throw new ArgumentError('data', `Pass whole records of ${record} elements: ${length} elements are none.`)
}

export function requireWire(codec: Codec | undefined, feedback: Feedback | undefined): void {
  if (feedback && !codec)
    throw new ArgumentError(
      'feedback',
      'Feedback is for calls whose wire rounds: name one, or leave feedback away.',
    )
}

/** Filled up with zeros to a whole number of blocks. */
export function wholeBlocks(words: NumericArray, dtype: DTypeInfo, block: number): NumericArray {
  const rest = words.length % block
  if (rest === 0) return words
  const filled = dtype.create(words.length + block - rest)
  filled.set(words as never)
  return filled
}

function weightedMean(op: OperatorName | Fold, dtype: DTypeInfo): Operator {
  if (op !== 'mean') throw new ArgumentError('weight', "A weight goes with op: 'mean' only.")
  if (dtype.name !== 'f32' && dtype.name !== 'f64')
    throw new UnsupportedError(
      `weighted mean of ${dtype.name}`,
      `Weighted sums do not fit ${dtype.name}. Pass the values as Float32Array or Float64Array.`,
    )
  const { finish: _, ...sum } = resolveOperator('mean', dtype)
  return { ...sum, name: 'weighted mean' }
}

function assertWeight(weight: number): void {
  if (!(Number.isFinite(weight) && weight >= 0))
    throw new ArgumentError('weight', `Pass a finite number that is not negative, not ${weight}.`)
}

function weighted(words: FloatArray, weight: number): FloatArray {
  const out =
    words instanceof Float32Array ? new Float32Array(words.length + 1) : new Float64Array(words.length + 1)
  // Weight 0 adds nothing, also where the data is NaN.
  if (weight > 0) for (let i = 0; i < words.length; i++) out[i] = words[i]! * weight
  out[words.length] = weight
  return out
}

function divide(out: FloatArray, total: number): void {
  for (let i = 0; i < out.length; i++) out[i] = out[i]! / total
}

/** The words as an array of the type of the caller's data: only some runtimes have a Float16Array of their own. */
export function ownTypeOf<T extends VectorArray>(data: T, words: NumericArray): T {
  if (!isNativeFloat16(data)) return words as T
  const Type = data.constructor as new (buffer: ArrayBufferLike, byteOffset: number, length: number) => T
  return new Type(words.buffer, words.byteOffset, words.length)
}
