/** Operands of every element type, and what must come out of combining them, computed without the library's kernels. */
import type { Prng } from '../../shared/base/prng.ts'
import { type DType, dtypes, type NumericArray } from '../../shared/wire/dtype.ts'
import { halfOf } from '../../shared/wire/half.ts'
import type { OperatorName } from '../../shared/wire/operator.ts'

export const allDtypes = Object.keys(dtypes) as DType[]

const widths: Partial<Record<DType, number>> = {
  i8: 8,
  u8: 8,
  u8c: 8,
  i16: 16,
  u16: 16,
  i32: 32,
  u32: 32,
  i64: 64,
  u64: 64,
}

/** The element as a number or bigint, whatever holds it. */
export function valueAt(dtype: DType, array: NumericArray, i: number): number | bigint {
  const half = halfOf(dtype)
  return half ? half.toNumber(Number(array[i])) : array[i]!
}

/** A vector of that type with these values, rounded or wrapped. */
export function vectorOf(dtype: DType, values: readonly (number | bigint)[]): NumericArray {
  const array = dtypes[dtype].create(values.length)
  const half = halfOf(dtype)
  const isBig = dtype === 'i64' || dtype === 'u64'
  values.forEach((value, i) => {
    array[i] = (half ? half.toWord(Number(value)) : isBig ? BigInt(value) : Number(value)) as never
  })
  return array
}

/** Any bits; floats are finite and of moderate size, so that sums and products of a few stay finite. */
export function randomVector(dtype: DType, count: number, prng: Prng): NumericArray {
  const array = dtypes[dtype].create(count)
  if (dtypes[dtype].isFloat)
    return vectorOf(
      dtype,
      Array.from({ length: count }, () => (prng.next() - 0.5) * 2 ** (prng.below(4) - 1)),
    )
  const bytes = new Uint8Array(array.buffer)
  for (let i = 0; i < bytes.length; i++) bytes[i] = prng.below(256)
  return array
}

const ascending = (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1)

const bigFolds: Record<Exclude<OperatorName, 'mean'>, (a: bigint, b: bigint) => bigint> = {
  sum: (a, b) => a + b,
  prod: (a, b) => a * b,
  min: (a, b) => [a, b].sort(ascending)[0]!,
  max: (a, b) => [a, b].sort(ascending)[1]!,
  band: (a, b) => a & b,
  bor: (a, b) => a | b,
  bxor: (a, b) => a ^ b,
}

/** Integers: the exact fold in unlimited precision, then cut (u8c: clamped) to the width of the type. */
export function integerFold(dtype: DType, op: OperatorName, inputs: readonly NumericArray[]): NumericArray {
  const width = widths[dtype]!
  const fold = bigFolds[op === 'mean' ? 'sum' : op]
  const isSigned = dtype.startsWith('i')
  const fit = (value: bigint) =>
    dtype === 'u8c'
      ? value > 255n
        ? 255n
        : value
      : isSigned
        ? BigInt.asIntN(width, value)
        : BigInt.asUintN(width, value)
  const values = Array.from({ length: inputs[0]!.length }, (_, i) => {
    const folded = fit(inputs.map((input) => BigInt(input[i]!)).reduce(fold))
    return op === 'mean' ? folded / BigInt(inputs.length) : folded
  })
  return vectorOf(dtype, values)
}
