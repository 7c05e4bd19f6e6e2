/** Operators by name, and which of them each element type admits; their kernels are in kernels.ts (docs/numbers.md). */
import { UnsupportedError } from '../base/errors.ts'
import type { DType } from './dtype.ts'

export type OperatorName = 'sum' | 'mean' | 'min' | 'max' | 'prod' | 'band' | 'bor' | 'bxor'

export const operatorNames: readonly OperatorName[] = [
  'sum',
  'mean',
  'min',
  'max',
  'prod',
  'band',
  'bor',
  'bxor',
]

const ofFloats: readonly OperatorName[] = ['sum', 'mean', 'min', 'max', 'prod']
const ofSmallIntegers: readonly OperatorName[] = ['sum', 'min', 'max', 'prod', 'band', 'bor', 'bxor']

/** The one table of pairs that exist. */
export const admitted: Readonly<Record<DType, readonly OperatorName[]>> = {
  i8: ofSmallIntegers,
  u8: ofSmallIntegers,
  u8c: ofSmallIntegers,
  i16: ofSmallIntegers,
  u16: ofSmallIntegers,
  i32: operatorNames,
  u32: operatorNames,
  i64: operatorNames,
  u64: operatorNames,
  f16: ofFloats,
  bf16: ofFloats,
  f32: ofFloats,
  f64: ofFloats,
}

/** @throws UnsupportedError for a pair that the table does not have; it says what to do instead */
export function requireAdmitted(dtype: DType, op: OperatorName): void {
  if (admitted[dtype].includes(op)) return
  const advice =
    op === 'mean'
      ? 'their sum would wrap before it is divided. Pass the values as Int32Array or Float32Array.'
      : `it combines the bits of integers. View the same memory as an array of unsigned integers, or use one of: ${admitted[dtype].join(', ')}.`
  throw new UnsupportedError(`${op} of ${dtype}`, `There is no ${op} of ${dtype}: ${advice}`)
}
