/**
 * Sixteen-bit floats: f16 (IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits) and bf16 (the upper half of a
 * binary32). Words to numbers is exact; numbers to words rounds to nearest, ties to even. Every NaN becomes one quiet NaN, so
 * that its bits are the same everywhere.
 */
import type { DType } from './dtype.ts'

const word32 = new Float32Array(1)
const bits32 = new Int32Array(word32.buffer)

/** What a half-precision type can do: numbers that are not float32 are first rounded to float32. */
export interface Half {
  toNumber(word: number): number
  toWord(value: number): number
}

/** Every word's number: 256 KiB, made when the first f16 is met; a look-up is several times faster than the arithmetic. */
let f16Numbers: Float32Array | undefined

function createF16Numbers(): Float32Array {
  const numbers = new Float32Array(65536)
  for (let word = 0; word < 65536; word++) {
    const sign = word & 0x8000 ? -1 : 1
    const exponent = (word >>> 10) & 31
    const fraction = word & 1023
    numbers[word] =
      exponent === 0
        ? sign * fraction * 2 ** -24
        : exponent < 31
          ? sign * (1024 + fraction) * 2 ** (exponent - 25)
          : fraction === 0
            ? sign * Number.POSITIVE_INFINITY
            : Number.NaN
  }
  return numbers
}

export const f16: Half = {
  toNumber(word) {
    f16Numbers ??= createF16Numbers()
    return f16Numbers[word]!
  },
  toWord(value) {
    word32[0] = value
    const bits = bits32[0]!
    const sign = (bits >>> 16) & 0x8000
    const magnitude = bits & 0x7fffffff
    // 2^-14 and above: move the exponent's bias from 127 to 15, round away 13 bits. 65 520 and above carry into infinity.
    if (magnitude >= 0x38800000 && magnitude < 0x47800000)
      return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13)
    if (magnitude > 0x7f800000) return 0x7e00
    if (magnitude >= 0x47800000) return sign | 0x7c00
    // Multiples of 2^-24; 2^-25 itself is a tie that goes to 0.
    if (magnitude <= 0x33000000) return sign
    const shift = 126 - (magnitude >>> 23)
    const fraction = (magnitude & 0x7fffff) | 0x800000
    const whole = fraction >>> shift
    const rest = fraction & ((1 << shift) - 1)
    const half = 1 << (shift - 1)
    return sign | (whole + (rest > half || (rest === half && (whole & 1) === 1) ? 1 : 0))
  },
}

export const bf16: Half = {
  toNumber(word) {
    bits32[0] = word << 16
    return word32[0]!
  },
  toWord(value) {
    word32[0] = value
    const bits = bits32[0]!
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fc0
    return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff
  },
}

/** The coding of a type whose elements are words of a Uint16Array. */
export function halfOf(dtype: DType): Half | undefined {
  return dtype === 'f16' ? f16 : dtype === 'bf16' ? bf16 : undefined
}
