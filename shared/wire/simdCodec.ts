/** The codecs of float32 in WebAssembly SIMD: the same bytes as the loops of codec.ts and quantize.ts. */
import { bf16 } from './half.ts'
import { bf16Lanes, f16Lanes, type HalfLanes, widened } from './halfLanes.ts'
import { inverseOf, q8Block, q8Levels, scaleOf } from './quantize.ts'
import {
  address,
  areaBytes,
  type Code,
  compileLoop,
  get,
  type Loop,
  load,
  loadSplat,
  locals,
  set,
  splat,
  store,
  vector,
  workMemory,
} from './wasm.ts'

/** The first area of the memory holds float32, the second what they are encoded to: words, or these. */
const perArea = areaBytes / 4
const blocksPerArea = perArea / q8Block
const lanesAt = areaBytes
const factorsAt = lanesAt + 16 * blocksPerArea
const levelsAt = factorsAt + 4 * blocksPerArea

/** A turn is eight elements. */
const encodeLoop = ({ toWords }: HalfLanes): Code =>
  store(
    address(4),
    areaBytes,
    vector('i16x8.narrow_i32x4_u', toWords(load(address(5), 0)), toWords(load(address(5), 16))),
  )
const decodeLoop = ({ toFloat }: HalfLanes): Code => {
  const [low, high] = widened(get(locals.left))
  return [
    ...set(locals.left, load(address(4), areaBytes)),
    ...store(address(5), 0, toFloat(low)),
    ...store(address(5), 16, toFloat(high)),
  ]
}

/** A turn is a block: sixteen vectors of float32, four of levels. */
const fours = [0, 1, 2, 3]
const floatAt = address(8)
const magnitude = (i: number) => vector('f32x4.abs', load(floatAt, 16 * i))
const largestLoop = store(
  address(4),
  lanesAt,
  Array.from({ length: 15 }, (_, i) => i + 1).reduce(
    (most, i) => vector('f32x4.max', most, magnitude(i)),
    magnitude(0),
  ),
)

const floatBits = new Int32Array(new Float32Array([q8Levels, -q8Levels]).buffer)
const level = (i: number): Code => {
  const scaled = vector('f32x4.mul', load(floatAt, 16 * i), get(locals.right))
  const clamped = vector('f32x4.max', vector('f32x4.min', scaled, splat(floatBits[0]!)), splat(floatBits[1]!))
  return vector('i32x4.trunc_sat_f32x4_s', vector('f32x4.nearest', clamped))
}
const levelsLoop: Code = [
  ...set(locals.right, loadSplat(address(2), factorsAt)),
  ...fours.flatMap((i) => {
    const low = vector('i16x8.narrow_i32x4_s', level(4 * i), level(4 * i + 1))
    const high = vector('i16x8.narrow_i32x4_s', level(4 * i + 2), level(4 * i + 3))
    return store(address(6), levelsAt + 16 * i, vector('i8x16.narrow_i16x8_s', low, high))
  }),
]

const valuesLoop: Code = [
  ...set(locals.right, loadSplat(address(2), factorsAt)),
  ...fours.flatMap((i) => {
    const bytes = get(locals.left)
    const words = [
      vector('i16x8.extend_low_i8x16_s', bytes),
      vector('i16x8.extend_high_i8x16_s', bytes),
    ] as const
    const integers = words.flatMap((word) => [
      vector('i32x4.extend_low_i16x8_s', word),
      vector('i32x4.extend_high_i16x8_s', word),
    ])
    return [
      ...set(locals.left, load(address(6), levelsAt + 16 * i)),
      ...integers.flatMap((integer, k) => {
        const value = vector('f32x4.mul', vector('f32x4.convert_i32x4_s', integer), get(locals.right))
        return store(floatAt, 64 * i + 16 * k, value)
      }),
    ]
  }),
]

export interface SimdHalf {
  encode(from: Float32Array, words: Uint16Array): void
  decode(words: Uint16Array, to: Float32Array): void
}

export interface SimdQ8 {
  quantize(from: Float32Array, scales: Uint16Array, out: Int8Array): void
  dequantize(scales: Uint16Array, from: Int8Array, to: Float32Array): void
}

/** Calls work(from, to) for stretches of at most `step`. */
function inStretches(length: number, step: number, work: (from: number, to: number) => void): void {
  for (let from = 0; from < length; from += step) work(from, Math.min(length, from + step))
}

function createHalf(lanes: HalfLanes): SimdHalf | undefined {
  const encode = compileLoop(encodeLoop(lanes))
  const decode = compileLoop(decodeLoop(lanes))
  if (!encode || !decode) return undefined
  const floats = new Float32Array(workMemory(), 0, perArea)
  const halves = new Uint16Array(workMemory(), areaBytes, perArea)
  return {
    encode(from, words) {
      inStretches(words.length, perArea, (begin, end) => {
        floats.set(from.subarray(begin, end))
        encode(Math.ceil((end - begin) / 8))
        words.set(halves.subarray(0, end - begin), begin)
      })
    },
    decode(words, to) {
      inStretches(words.length, perArea, (begin, end) => {
        halves.set(words.subarray(begin, end))
        decode(Math.ceil((end - begin) / 8))
        to.set(floats.subarray(0, end - begin), begin)
      })
    },
  }
}

function createQ8(): SimdQ8 | undefined {
  const [findLargest, toLevels, toValues] = [largestLoop, levelsLoop, valuesLoop].map(compileLoop) as (
    | Loop
    | undefined
  )[]
  if (!findLargest || !toLevels || !toValues) return undefined
  const memory = workMemory()
  const floats = new Float32Array(memory, 0, perArea)
  const lanes = new Float32Array(memory, lanesAt, 4 * blocksPerArea)
  const factors = new Float32Array(memory, factorsAt, blocksPerArea)
  const levels = new Int8Array(memory, levelsAt, perArea)
  return {
    quantize(from, scales, out) {
      inStretches(scales.length, blocksPerArea, (begin, end) => {
        const blocks = end - begin
        floats.set(from.subarray(begin * q8Block, end * q8Block))
        findLargest(blocks)
        for (let b = 0; b < blocks; b++) {
          const [i, j, k, l] = [4 * b, 4 * b + 1, 4 * b + 2, 4 * b + 3]
          const scale = scaleOf(Math.max(lanes[i]!, lanes[j]!, lanes[k]!, lanes[l]!))
          scales[begin + b] = scale
          factors[b] = inverseOf(scale)
        }
        toLevels(blocks)
        out.set(levels.subarray(0, blocks * q8Block), begin * q8Block)
      })
    },
    dequantize(scales, from, to) {
      inStretches(scales.length, blocksPerArea, (begin, end) => {
        const blocks = end - begin
        levels.set(from.subarray(begin * q8Block, end * q8Block))
        for (let b = 0; b < blocks; b++) factors[b] = bf16.toNumber(scales[begin + b]!)
        toValues(blocks)
        to.set(floats.subarray(0, blocks * q8Block), begin * q8Block)
      })
    },
  }
}

/** Made when first used; undefined where the runtime has no WebAssembly SIMD. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

export const simdHalves = { f16: once(() => createHalf(f16Lanes)), bf16: once(() => createHalf(bf16Lanes)) }
export const simdQ8 = once(createQ8)
