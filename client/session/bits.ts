/** Do all ranks hold the same bits, and if not, how far are they apart? */
import type { DType, NumericArray } from '../../shared/wire/dtype.ts'

/**
 * 64 bits of hash over the bytes of a vector, as 16 hex digits. Against accidents, not against forgers: two multiply-rotate
 * lanes over 32-bit words with the MurmurHash3 finaliser.
 */
export function hashBits(vector: NumericArray): string {
  // Signed words: the engine then keeps everything in 32-bit registers.
  const words = wordsOf(vector)
  let a = 0x9e3779b1 ^ words.length
  let b = 0x85ebca6b ^ words.length
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    a = Math.imul(a ^ word, 0xcc9e2d51)
    a = (a << 15) | (a >>> 17)
    b = Math.imul(b ^ word, 0x1b873593)
    b = ((b << 13) | (b >>> 19)) ^ a
  }
  return hex(finish(a)) + hex(finish(b))
}

/** The bytes in words of four; what is left over of narrow types is filled up with zeros. */
function wordsOf({ buffer, byteOffset, byteLength }: NumericArray): Int32Array {
  if (byteLength % 4 === 0) return new Int32Array(buffer, byteOffset, byteLength / 4)
  const words = new Int32Array(Math.ceil(byteLength / 4))
  new Uint8Array(words.buffer).set(new Uint8Array(buffer, byteOffset, byteLength))
  return words
}

function finish(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0')
}

export interface Spread {
  /** Elements that are not the same on all ranks. */
  readonly elements: number
  /** Largest distance in units in the last place (for integers: the difference). */
  readonly ulps: number
}

/** How far the smallest and the largest value that any rank holds are apart, element by element. */
export function spreadOf(dtype: DType, smallest: NumericArray, largest: NumericArray): Spread {
  const low = placesOf(dtype, smallest)
  const high = placesOf(dtype, largest)
  let elements = 0
  let ulps = 0
  for (let i = 0; i < smallest.length; i++) {
    if (Object.is(smallest[i], largest[i])) continue
    elements++
    ulps = Math.max(ulps, Number(high(i) - low(i)))
  }
  return { elements, ulps }
}

/**
 * Position of element i among all values of its type, in ascending order: neighbours differ by 1, also -0 and 0. Sign and
 * magnitude become one integer because the bits of positive floats ascend with their value.
 */
function placesOf(dtype: DType, vector: NumericArray): (i: number) => bigint {
  const { buffer, byteOffset, length } = vector
  const ofFloat = (bits: Int16Array | Int32Array | BigInt64Array, magnitude: bigint) => (i: number) => {
    const value = BigInt(bits[i]!)
    return value >= 0n ? value : -(value & magnitude) - 1n
  }
  if (dtype === 'f16' || dtype === 'bf16') return ofFloat(new Int16Array(buffer, byteOffset, length), 0x7fffn)
  if (dtype === 'f32') return ofFloat(new Int32Array(buffer, byteOffset, length), 0x7fffffffn)
  if (dtype === 'f64') return ofFloat(new BigInt64Array(buffer, byteOffset, length), 0x7fffffffffffffffn)
  return (i) => BigInt(vector[i]!)
}
