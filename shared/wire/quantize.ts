/**
 * q8: blocks of 64 elements, each with a scale s of 16 bits (bf16); an element x travels as the integer q nearest to x / s, ties to
 * even, in one byte. 66 bytes for 64 elements. |x - q s| <= s / 2 and s <= max |x| / 127 * (1 + 2^-9), so the error is at most
 * max |x| of the block / 253.
 *
 * Why it is a projection (codec.ts): s is the bf16 nearest to max |x| / 127, so the largest element is 127 of them, give or take 1/4,
 * and becomes exactly 127 s, of 15 significant bits, from which s comes out again. And q s times 1 / s rounds to q.
 *
 * Why nearest and not stochastic: the same bits in every run; what nearest rounding leaves is carried to the next call by
 * error feedback (feedback.ts).
 */
import type { FloatArray } from './codec.ts'
import { bf16 } from './half.ts'

export const q8Block = 64
export const q8Levels = 127

const largest32 = (2 - 2 ** -23) * 2 ** 127
/** Blocks of smaller numbers become 0: below, scales would lose bits. */
const smallest = 2 ** -110
/** The scale of a block that holds a NaN, an infinity, or a number beyond float32: all of it becomes NaN. */
const notANumber = 0x7fc0
/** Adding and subtracting 1.5 * 2^52 rounds to the nearest integer, ties to even. */
const toInteger = 6755399441055744

/** The word of the scale of a block whose largest magnitude is that. */
export function scaleOf(largest: number): number {
  if (!(largest <= largest32)) return notANumber
  if (largest < smallest) return 0
  const word = bf16.toWord(largest / q8Levels)
  return bf16.toNumber(word) * q8Levels > largest32 ? word - 1 : word
}

/** 1 / s in float32; 0 for a block without levels. */
export function inverseOf(scale: number): number {
  return scale === 0 || scale === notANumber ? 0 : Math.fround(1 / bf16.toNumber(scale))
}

/** scales[b] and levels of block b; `from` has whole blocks. */
export function quantize(from: FloatArray, scales: Uint16Array, out: Int8Array): void {
  for (let block = 0, i = 0; block < scales.length; block++) {
    const end = i + q8Block
    let largest = 0
    for (let k = i; k < end; k++) largest = Math.max(largest, Math.abs(from[k]!))
    scales[block] = scaleOf(largest)
    const inverse = inverseOf(scales[block]!)
    if (inverse === 0) out.fill(0, i, end)
    else
      for (let k = i; k < end; k++) {
        const level = Math.fround(from[k]! * inverse) + toInteger - toInteger
        out[k] = Math.min(q8Levels, Math.max(-q8Levels, level))
      }
    i = end
  }
}

export function dequantize(scales: Uint16Array, from: Int8Array, to: FloatArray): void {
  for (let block = 0, i = 0; block < scales.length; block++) {
    const scale = bf16.toNumber(scales[block]!)
    for (const end = i + q8Block; i < end; i++) to[i] = from[i]! * scale
  }
}
