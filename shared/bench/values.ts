/**
 * What goes into a benchmark and what must come out. The values are whole and so small that every fold of them is exact in every type and
 * in every order; the expected result is made from them with plain arithmetic and not with the kernels that it is to check.
 *
 * Element i of a rank's vector is entry i mod `period` of the rank's own table. The period is a prime, so that no chunk that lies in a
 * wrong place looks right.
 */
import { createPrng } from '../base/prng.ts'
import type { Collective } from '../schedule/types.ts'
import { type DType, dtypes, type NumericArray } from '../wire/dtype.ts'
import { halfOf } from '../wire/half.ts'
import type { OperatorName } from '../wire/operator.ts'

export const period = 4093

/** Whole numbers up to here are exact, and sums up to here do not wrap. */
const exactUpTo: Readonly<Record<DType, number>> = {
  i8: 127,
  u8: 255,
  u8c: 255,
  i16: 32767,
  u16: 65535,
  i32: 2 ** 31 - 1,
  u32: 2 ** 32 - 1,
  i64: 2 ** 53,
  u64: 2 ** 53,
  f16: 2048,
  bf16: 256,
  f32: 2 ** 24,
  f64: 2 ** 53,
}
const mostValues = 256
/** Factors of 2 in a product. */
const mostFactors = 5

export interface ValuesRequest {
  readonly collective: Collective
  readonly dtype: DType
  readonly op: OperatorName | undefined
  readonly size: number
  /** -1: none. */
  readonly root: number
  readonly seed: number
}

export interface Values {
  /** Writes the vector that a rank passes. */
  fill(rank: number, vector: NumericArray): void
  /** How many elements of what the rank got are wrong. `part`: elements of one rank's part, in collectives that have parts. */
  countWrong(rank: number, result: NumericArray, part: number): number
}

export function createValues(request: ValuesRequest): Values {
  const { collective, dtype, op, size, root, seed } = request
  const asWords = wordsOf(dtype)
  const numbers = Array.from({ length: size }, (_, rank) => tableOf(request, rank))
  const own = numbers.map(asWords)
  const folded = op === undefined ? undefined : asWords(foldOf(op, dtype, numbers))
  return {
    fill: (rank, vector) => tile(vector, own[rank]!, 0),
    countWrong(rank, result, part) {
      const compare = (table: NumericArray, phase: number) => countDifferent(result, table, phase)
      const blocks = (tableOf: (block: number) => NumericArray, phase: number) =>
        own.reduce(
          (wrong, _, block) =>
            wrong + countDifferent(result.subarray(block * part, (block + 1) * part), tableOf(block), phase),
          0,
        )
      switch (collective) {
        case 'allreduce':
        case 'reduce':
          return compare(folded!, 0)
        case 'reduceScatter':
          return compare(folded!, rank * part)
        case 'broadcast':
          return compare(own[root]!, 0)
        case 'scatter':
          return compare(own[root]!, rank * part)
        case 'allgather':
        case 'gather':
          return blocks((block) => own[block]!, 0)
        case 'alltoall':
          return blocks((block) => own[block]!, rank * part)
        case 'barrier':
          return 0
      }
    },
  }

  function tableOf({ op: operator }: ValuesRequest, rank: number): number[] {
    // Of all ranks together: who brings a 2 into a product.
    const shared = createPrng(seed)
    const prng = createPrng(seed + Math.imul(rank + 1, 0x9e3779b1))
    const most = exactUpTo[dtype]
    if (operator === 'prod') {
      const factors = Math.min(size, mostFactors)
      return Array.from({ length: period }, () => ((rank + shared.below(size)) % size < factors ? 2 : 1))
    }
    const isAdded = operator === 'sum' || operator === 'mean'
    const bound = isAdded ? Math.floor(most / size) + 1 : most + 1
    // Too many ranks for a sum of this type: the first ones bring 0 and 1, the others nothing.
    if (bound < 2 && rank >= most) return new Array<number>(period).fill(0)
    return Array.from({ length: period }, () => prng.below(Math.max(2, Math.min(mostValues, bound))))
  }
}

function foldOf(op: OperatorName, dtype: DType, tables: readonly (readonly number[])[]): number[] {
  const size = tables.length
  const fold = (combine: (a: number, b: number) => number) =>
    tables[0]!.map((_, i) => tables.map((table) => table[i]!).reduce((a, b) => combine(a, b)))
  switch (op) {
    case 'sum':
      return fold((a, b) => a + b)
    case 'mean': {
      const { isFloat } = dtypes[dtype]
      return fold((a, b) => a + b).map((sum) => (isFloat ? sum / size : Math.trunc(sum / size)))
    }
    case 'min':
      return fold(Math.min)
    case 'max':
      return fold(Math.max)
    case 'prod':
      return fold((a, b) => a * b)
    case 'band':
      return fold((a, b) => a & b)
    case 'bor':
      return fold((a, b) => a | b)
    case 'bxor':
      return fold((a, b) => a ^ b)
  }
}

function wordsOf(dtype: DType): (numbers: readonly number[]) => NumericArray {
  const half = halfOf(dtype)
  return (numbers) => {
    const words = dtypes[dtype].create(numbers.length)
    if (words instanceof BigInt64Array || words instanceof BigUint64Array)
      for (const [i, value] of numbers.entries()) words[i] = BigInt(value)
    else for (const [i, value] of numbers.entries()) words[i] = half ? half.toWord(value) : value
    return words
  }
}

/** vector[i] = table[(i + phase) mod period] */
function tile(vector: NumericArray, table: NumericArray, phase: number): void {
  for (let at = 0, from = phase % period; at < vector.length; from = 0) {
    const length = Math.min(period - from, vector.length - at)
    vector.set(table.subarray(from, from + length) as never, at)
    at += length
  }
}

function countDifferent(vector: NumericArray, table: NumericArray, phase: number): number {
  let wrong = 0
  let from = phase % period
  for (let i = 0; i < vector.length; i++) {
    if (vector[i] !== table[from]) wrong++
    if (++from === period) from = 0
  }
  return wrong
}
