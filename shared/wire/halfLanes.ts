/** Half-precision words in vectors: four lanes of float32 to four words and back, with the same results as half.ts. */
import { type Code, get, locals, type Opcode, set, shift, splat, vector } from './wasm.ts'

const { a, b } = locals

const and = (x: Code, y: Code) => vector('v128.and', x, y)
const or = (x: Code, y: Code) => vector('v128.or', x, y)
const add = (x: Code, y: Code) => vector('i32x4.add', x, y)
const left = (x: Code, count: number) => shift('i32x4.shl', x, count)
const right = (x: Code, count: number) => shift('i32x4.shr_u', x, count)
/** x where the bits of `mask` are set, else y. */
export const select = (mask: Code, x: Code, y: Code) => vector('v128.bitselect', x, y, mask)

export interface HalfLanes {
  /** From words in lanes of 32 bits. Uses local b. */
  toFloat(words: Code): Code
  /** To words in lanes of 32 bits. Uses local a. */
  toWords(floats: Code): Code
}

export const bf16Lanes: HalfLanes = {
  toFloat: (words) => left(words, 16),
  toWords(floats) {
    const bits = get(a)
    const rounded = right(add(add(bits, splat(0x7fff)), and(right(bits, 16), splat(1))), 16)
    return [...set(a, floats), ...select(vector('f32x4.ne', bits, bits), splat(0x7fc0), rounded)]
  },
}

export const f16Lanes: HalfLanes = {
  /** Exponent and fraction moved into place and scaled by 2^112, which also makes subnormals right; then infinities and the sign. */
  toFloat(words) {
    const magnitude = left(and(get(b), splat(0x7fff)), 13)
    const scaled = vector('f32x4.mul', magnitude, splat(0x77800000))
    const special = and(vector('i32x4.ge_s', magnitude, splat(0x0f800000)), splat(0x7f800000))
    const sign = left(and(get(b), splat(0x8000)), 16)
    return [...set(b, words), ...or(or(scaled, special), sign)]
  },
  /** All cases at once (after Giesen, float->half variants, 2016). */
  toWords(floats) {
    const magnitude = and(get(a), splat(0x7fffffff))
    const normal = right(add(add(magnitude, splat(0xc8000fff)), and(right(magnitude, 13), splat(1))), 13)
    // Adding 1/2 leaves multiples of 2^-24 in the last bits, rounded to even by the addition itself.
    const small = add(vector('f32x4.add', magnitude, splat(0x3f000000)), splat(-0x3f000000))
    const isSmall = vector('i32x4.lt_s', magnitude, splat(0x38800000))
    const isLarge = vector('i32x4.ge_s', magnitude, splat(0x47800000))
    const word = select(isLarge, splat(0x7c00), select(isSmall, small, normal))
    const sign = right(and(get(a), splat(0x80000000)), 16)
    return [...set(a, floats), ...select(vector('f32x4.ne', get(a), get(a)), splat(0x7e00), or(word, sign))]
  },
}

/** Eight words to two vectors of lanes. */
export const widened = (words: Code): [low: Code, high: Code] => [
  vector('i32x4.extend_low_i16x8_u', words),
  vector('i32x4.extend_high_i16x8_u', words),
]

/** Eight words, each computed in float32 from the words at its place in both operands. */
export function combineHalves({ toFloat, toWords }: HalfLanes, opcode: Opcode, x: Code, y: Code): Code {
  const [lowX, highX] = widened(x)
  const [lowY, highY] = widened(y)
  const low = toWords(vector(opcode, toFloat(lowX), toFloat(lowY)))
  const high = toWords(vector(opcode, toFloat(highX), toFloat(highY)))
  return vector('i16x8.narrow_i32x4_u', low, high)
}
