/**
 * Codecs: floats that travel in fewer bits than they are computed with. A partial result is decoded on arrival and combined in its own
 * type; only what is on the wire is rounded (docs/numbers.md).
 *
 * Every codec is a projection: what was decoded is encoded to the same bytes again. So a value may pass any number of ranks,
 * and all of them hold the same bits, if whoever sends a value goes on with what it has sent.
 */
import { ArgumentError, UnsupportedError } from '../base/errors.ts'
import type { DType } from './dtype.ts'
import { bf16, f16, type Half } from './half.ts'
import { dequantize, q8Block, quantize } from './quantize.ts'
import { simdHalves, simdQ8 } from './simdCodec.ts'

export type FloatArray = Float32Array | Float64Array

export type Wire = 'f32' | 'f16' | 'bf16' | 'q8'

export interface Codec {
  readonly name: Wire
  /** Elements that are encoded together: encode and decode take whole blocks. */
  readonly block: number
  /** Bytes that `elements` take, a multiple of the block. */
  encodedBytes(elements: number): number
  /** Elements in so many bytes; undefined when no whole number of blocks has so many. */
  elementsIn(bytes: number): number | undefined
  /** `to` begins at an even address, and has the bytes of all of `from`. */
  encode(from: FloatArray, to: Uint8Array): void
  /** `from` may begin anywhere. */
  decode(from: Uint8Array, to: FloatArray): void
}

/** Each element by itself, in `bytes` bytes. */
function plain(name: Wire, bytes: number, coding: Pick<Codec, 'encode' | 'decode'>): Codec {
  return {
    name,
    block: 1,
    encodedBytes: (elements) => elements * bytes,
    elementsIn: (encoded) => (encoded % bytes === 0 ? encoded / bytes : undefined),
    ...coding,
  }
}

const aligned = (bytes: Uint8Array, alignment: number) =>
  bytes.byteOffset % alignment === 0 ? bytes : bytes.slice()

const wordsOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new Uint16Array(buffer, byteOffset, byteLength / 2)

const halfCodec = (name: 'f16' | 'bf16', { toNumber, toWord }: Half) =>
  plain(name, 2, {
    encode(from, to) {
      const words = wordsOf(to)
      const simd = from instanceof Float32Array && simdHalves[name]()
      if (simd) simd.encode(from, words)
      else for (let i = 0; i < words.length; i++) words[i] = toWord(from[i]!)
    },
    decode(from, to) {
      const words = wordsOf(aligned(from, 2))
      const simd = to instanceof Float32Array && simdHalves[name]()
      if (simd) simd.decode(words, to)
      else for (let i = 0; i < words.length; i++) to[i] = toNumber(words[i]!)
    },
  })

const codecs: Readonly<Record<Wire, Codec>> = {
  f32: plain('f32', 4, {
    encode: (from, to) => to.set(new Uint8Array(Float32Array.from(from).buffer)),
    decode(from, to) {
      const { buffer, byteOffset, byteLength } = aligned(from, 4)
      to.set(new Float32Array(buffer, byteOffset, byteLength / 4))
    },
  }),
  f16: halfCodec('f16', f16),
  bf16: halfCodec('bf16', bf16),
  q8: {
    name: 'q8',
    block: q8Block,
    encodedBytes: (elements) => (elements / q8Block) * (q8Block + 2),
    elementsIn: (bytes) => (bytes % (q8Block + 2) === 0 ? (bytes / (q8Block + 2)) * q8Block : undefined),
    encode(from, to) {
      const blocks = from.length / q8Block
      const scales = wordsOf(to.subarray(0, 2 * blocks))
      const levels = signedOf(to.subarray(2 * blocks))
      const simd = from instanceof Float32Array && simdQ8()
      if (simd) simd.quantize(from, scales, levels)
      else quantize(from, scales, levels)
    },
    decode(from, to) {
      const blocks = to.length / q8Block
      const scales = wordsOf(aligned(from.subarray(0, 2 * blocks), 2))
      const levels = signedOf(from.subarray(2 * blocks))
      const simd = to instanceof Float32Array && simdQ8()
      if (simd) simd.dequantize(scales, levels, to)
      else dequantize(scales, levels, to)
    },
  },
}

function signedOf({ buffer, byteOffset, byteLength }: Uint8Array): Int8Array {
  return new Int8Array(buffer, byteOffset, byteLength)
}

/** Which types and operators may travel how. A sum of roundings has a bound; a product has none worth the name. */
export const wires: Readonly<Record<Wire, { dtypes: readonly DType[]; operators: readonly string[] }>> = {
  f32: { dtypes: ['f64'], operators: ['sum', 'mean', 'min', 'max'] },
  f16: { dtypes: ['f32', 'f64'], operators: ['sum', 'mean', 'min', 'max'] },
  bf16: { dtypes: ['f32', 'f64'], operators: ['sum', 'mean', 'min', 'max'] },
  q8: { dtypes: ['f32', 'f64'], operators: ['sum', 'mean'] },
}

/**
 * The codec of a call that combines by `operator`, or only moves elements; undefined when elements travel as they are.
 * @throws UnsupportedError for a type or an operator that may not travel so
 * @throws ArgumentError when there is no such wire
 */
export function codecOf(wire: Wire | undefined, dtype: DType, operator?: string): Codec | undefined {
  if (wire === undefined || wire === dtype) return undefined
  if (!Object.hasOwn(wires, wire))
    throw new ArgumentError('wire', `There is no wire "${wire}". Known: ${Object.keys(wires).join(', ')}.`)
  const { dtypes, operators } = wires[wire]
  if (!dtypes.includes(dtype))
    throw new UnsupportedError(
      `${dtype} as ${wire}`,
      `Elements of ${dtype} cannot travel as ${wire}, which is for ${dtypes.join(' and ')}. Leave wire away.`,
    )
  if (operator !== undefined && !operators.includes(operator))
    throw new UnsupportedError(
      `${operator} over ${wire}`,
      `${wire} is for ${operators.join(', ')}, not for ${operator}: its error would have no useful bound. Leave wire away.`,
    )
  return codecs[wire]
}
