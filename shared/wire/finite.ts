/** Values that are not finite numbers. */
import type { DType, NumericArray } from './dtype.ts'

/** Exponents of all ones: NaN and the infinities of 16-bit floats. */
const exponents: Partial<Record<DType, number>> = { f16: 0x7c00, bf16: 0x7f80 }

/** How many elements are NaN or infinite; integers never are. */
export function countNonFinite(words: NumericArray, dtype: DType): number {
  let count = 0
  const exponent = exponents[dtype]
  if (exponent !== undefined && words instanceof Uint16Array) {
    for (let i = 0; i < words.length; i++) if ((words[i]! & exponent) === exponent) count++
  } else if (words instanceof Float32Array || words instanceof Float64Array) {
    // x - x is 0 for finite numbers and NaN for all others.
    for (let i = 0; i < words.length; i++) if (words[i]! - words[i]! !== 0) count++
  }
  return count
}
