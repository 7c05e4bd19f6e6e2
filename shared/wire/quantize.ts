/**
 * q8: blocks of 64 elements, each with a scale s of 16 bits (bf16); an element x travels as the integer q nearest to x / s, ties to
 * even, in one byte. 66 bytes for 64 elements. |x - q s| <= s / 2, and s <= max |x| / 127 * (1 + 2^-8), so the error is at most
 * max |x| of the block / 253.
 *
 * Why it is a projection (codec.ts): s is the bf16 nearest to max |x| / 127, so the largest element is 127 of them, give or take 1/4,
 * and becomes exactly 127 s, of 15 significant bits, from which s comes out again. And q s / s is q.
 *
 * Why nearest and not stochastic: the same bits in every run; what nearest rounding leaves is carried to the next call by
 * error feedback (feedback.ts).
 */
import type { FloatArray } from './codec.ts'
import { bf16 } from './half.ts'

export const q8Block = 64

const levels = 127
const largest32 = (2 - 2 ** -23) * 2 ** 127
/** Blocks of smaller numbers become 0: below, scales would lose bits. */
const smallest = 2 ** -110
/** The scale of a block that holds a NaN, an infinity, or a number beyond float32: all of it becomes NaN. */
const notANumber = 0x7fc0
/** Adding and subtracting 1.5 * 2^52 rounds to the nearest integer, ties to even. */
const toInteger = 6755399441055744

function scaleOf(largest: number): number {
  if (!(largest <= largest32)) return notANumber
  if (largest < smallest) return 0
  const word = bf16.toWord(largest / levels)
  return bf16.toNumber(word) * levels > largest32 ? word - 1 : word
}

/** scales[b] and levels of block b; `from` has whole blocks. */
export function quantize(from: FloatArray, scales: Uint16Array, out: Int8Array): void {
  for (let block = 0, i = 0; block < scales.length; block++) {
    const end = i + q8Block
    let largest = 0
    for (let k = i; k < end; k++) largest = Math.max(largest, Math.abs(from[k]!))
    const scale = scaleOf(largest)
    scales[block] = scale
    const isNumber = scale !== 0 && scale !== notANumber
    const inverse = isNumber ? 1 / bf16.toNumber(scale) : 0
    if (isNumber)
      for (; i < end; i++) {
        const level = from[i]! * inverse + toInteger - toInteger
        out[i] = Math.min(levels, Math.max(-levels, level))
      }
    else {
      out.fill(0, i, end)
      i = end
    }
  }
}

export function dequantize(scales: Uint16Array, from: Int8Array, to: FloatArray): void {
  for (let block = 0, i = 0; block < scales.length; block++) {
    const scale = bf16.toNumber(scales[block]!)
    for (const end = i + q8Block; i < end; i++) to[i] = from[i]! * scale
  }
}
