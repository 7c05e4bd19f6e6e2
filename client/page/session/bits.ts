/** Do all ranks hold the same bits, and if not, how far are they apart? */
import type { NumberArray } from '../../../shared/wire/dtype.ts'

/**
 * 64 bits of hash over the bytes of a vector, as 16 hex digits. Against accidents, not against forgers: two multiply-rotate
 * lanes over 32-bit words with the MurmurHash3 finaliser.
 */
export function hashBits(vector: NumberArray): string {
  // Signed words: the engine then keeps everything in 32-bit registers.
  const words = new Int32Array(vector.buffer, vector.byteOffset, vector.byteLength / 4)
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
export function spreadOf(smallest: NumberArray, largest: NumberArray): Spread {
  const low = placesOf(smallest)
  const high = placesOf(largest)
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
function placesOf(vector: NumberArray): (i: number) => bigint {
  if (vector instanceof Int32Array) return (i) => BigInt(vector[i]!)
  const [bits, magnitude] =
    vector instanceof Float32Array
      ? [new Int32Array(vector.buffer, vector.byteOffset, vector.length), 0x7fffffffn]
      : [new BigInt64Array(vector.buffer, vector.byteOffset, vector.length), 0x7fffffffffffffffn]
  return (i) => {
    const value = BigInt(bits[i]!)
    return value >= 0n ? value : -(value & magnitude) - 1n
  }
}
