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
  const tables: NumericArray[] = []
  /** Of many ranks most tables are never needed. */
  const own = (rank: number) => (tables[rank] ??= asWords(tableOf(rank)))
  let fold: NumericArray | undefined
  const folded = () => {
    fold ??= asWords(foldOf(op ?? 'sum', dtype, size, tableOf))
    return fold
  }
  return {
    fill: (rank, vector) => tile(vector, own(rank), 0),
    countWrong(rank, result, part) {
      const compare = (table: NumericArray, phase: number) => countDifferent(result, table, phase)
      const blocks = (phase: number) => {
        let wrong = 0
        for (let block = 0; block < size; block++)
          wrong += countDifferent(result.subarray(block * part, (block + 1) * part), own(block), phase)
        return wrong
      }
      switch (collective) {
        case 'allreduce':
        case 'reduce':
          return compare(folded(), 0)
        case 'reduceScatter':
          return compare(folded(), rank * part)
        case 'broadcast':
          return compare(own(root), 0)
        case 'scatter':
          return compare(own(root), rank * part)
        case 'allgather':
        case 'gather':
          return blocks(0)
        case 'alltoall':
          return blocks(rank * part)
        case 'barrier':
          return 0
      }
    },
  }

  function tableOf(rank: number): number[] {
    // Of all ranks together: who brings a 2 into a product.
    const shared = createPrng(seed)
    const prng = createPrng(seed + Math.imul(rank + 1, 0x9e3779b1))
    const most = exactUpTo[dtype]
    if (op === 'prod') {
      const factors = Math.min(size, mostFactors)
      return Array.from({ length: period }, () => ((rank + shared.below(size)) % size < factors ? 2 : 1))
    }
    const isAdded = op === 'sum' || op === 'mean'
    const bound = isAdded ? Math.floor(most / size) + 1 : most + 1
    // Too many ranks for a sum of this type: the first ones bring 0 and 1, the others nothing.
    if (bound < 2 && rank >= most) return new Array<number>(period).fill(0)
    return Array.from({ length: period }, () => prng.below(Math.max(2, Math.min(mostValues, bound))))
  }
}

const folds: Readonly<Record<OperatorName, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  mean: (a, b) => a + b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  prod: (a, b) => a * b,
  band: (a, b) => a & b,
  bor: (a, b) => a | b,
  bxor: (a, b) => a ^ b,
}

function foldOf(op: OperatorName, dtype: DType, size: number, tableOf: (rank: number) => number[]): number[] {
  const combine = folds[op]
  const result = tableOf(0)
  for (let rank = 1; rank < size; rank++)
    for (const [i, value] of tableOf(rank).entries()) result[i] = combine(result[i]!, value)
  if (op !== 'mean') return result
  return result.map((sum) => (dtypes[dtype].isFloat ? sum / size : Math.trunc(sum / size)))
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
