/**
 * Kernels in WebAssembly SIMD. Operands are copied into its memory and the result back, stretch by stretch, and it still wins (docs/numbers.md
 * has the figures). The same bits as the loops of kernels.ts, except for those of a NaN of f32 and f64, which
 * neither promises.
 */
import type { DType, NumericArray } from './dtype.ts'
import type { Combine, KernelName } from './kernels.ts'
import { assemble, type Code, get, set, shift, splat, vector, vectorLocals } from './wasm.ts'

const left = get(vectorLocals.left)
const right = get(vectorLocals.right)
const binary = (opcode: number) => vector(opcode, left, right)

const bitwise = { band: binary(0x4e), bor: binary(0x50), bxor: binary(0x51) }

/** a where the bits of `mask` are set, else b. */
const select = (mask: Code, a: Code, b: Code) => vector(0x52, a, b, mask)

/** The sign bit of both lanes of 64 bits: flipped, unsigned order becomes signed order. */
const signs64 = shift(0xcb, vector(0xd6, left, left), 63)
const flipped = (operand: Code) => vector(0x51, operand, signs64)
const greater64 = binary(0xd9)
const above64 = vector(0xd9, flipped(left), flipped(right))

/** Words of 16 bits, widened to four lanes of 32: the low or the high half of the vector. */
type Half = 'low' | 'high'
const widen = (operand: Code, half: Half) => vector(half === 'low' ? 0xa9 : 0xaa, operand)
const and = (a: Code, b: Code) => vector(0x4e, a, b)
const or = (a: Code, b: Code) => vector(0x50, a, b)
const add = (a: Code, b: Code) => vector(0xae, a, b)
const toLeft = (a: Code, count: number) => shift(0xab, a, count)
const toRight = (a: Code, count: number) => shift(0xad, a, count)

const { a, b } = vectorLocals

/** Eight words from two vectors of four lanes: each half is computed in float32 and rounded. */
function ofHalves(toFloat: (words: Code) => Code, toWords: (floats: Code) => Code, opcode: number): Code {
  const half = (which: Half) => vector(opcode, toFloat(widen(left, which)), toFloat(widen(right, which)))
  return vector(0x86, toWords(half('low')), toWords(half('high')))
}

const bf16 = {
  toFloat: (words: Code) => toLeft(words, 16),
  /** bits + 0x7fff + bit 16, upper half; NaN is 0x7fc0 (half.ts). */
  toWords: (floats: Code) => {
    const bits = get(a)
    const rounded = toRight(add(add(bits, splat(0x7fff)), and(toRight(bits, 16), splat(1))), 16)
    // x is not x: f32x4.ne
    return [...floats, ...set(a), ...select(vector(0x42, bits, bits), splat(0x7fc0), rounded)]
  },
}

const f16 = {
  /** Exponent and fraction moved into place and scaled by 2^112, which also makes subnormals right; then infinities and the sign. */
  toFloat: (words: Code) => {
    const magnitude = toLeft(and(get(b), splat(0x7fff)), 13)
    const scaled = vector(0xe6, magnitude, splat(0x77800000))
    // i32x4.ge_s: the exponent is that of infinities and NaN
    const special = and(vector(0x3f, magnitude, splat(0x0f800000)), splat(0x7f800000))
    const sign = toLeft(and(get(b), splat(0x8000)), 16)
    return [...words, ...set(b), ...or(or(scaled, special), sign)]
  },
  /** As half.ts, all cases at once (after Giesen, float->half variants, 2016). */
  toWords: (floats: Code) => {
    const magnitude = and(get(a), splat(0x7fffffff))
    const normal = toRight(add(add(magnitude, splat(0xc8000fff)), and(toRight(magnitude, 13), splat(1))), 13)
    // Adding 1/2 leaves multiples of 2^-24 in the last bits, rounded to even by the addition itself.
    const small = add(vector(0xe4, magnitude, splat(0x3f000000)), splat(-0x3f000000))
    const isSmall = vector(0x39, magnitude, splat(0x38800000))
    const isLarge = vector(0x3f, magnitude, splat(0x47800000))
    const finite = select(isSmall, small, normal)
    const sign = toRight(and(get(a), splat(0x80000000)), 16)
    const signedWord = or(select(isLarge, splat(0x7c00), finite), sign)
    return [...floats, ...set(a), ...select(vector(0x42, get(a), get(a)), splat(0x7e00), signedWord)]
  },
}

interface HalfLanes {
  toFloat(words: Code): Code
  toWords(floats: Code): Code
}

const halfKernels = ({ toFloat, toWords }: HalfLanes) => ({
  sum: ofHalves(toFloat, toWords, 0xe4),
  prod: ofHalves(toFloat, toWords, 0xe6),
  min: ofHalves(toFloat, toWords, 0xe8),
  max: ofHalves(toFloat, toWords, 0xe9),
})

/** What is missing (products of bytes, which no instruction multiplies) is left to the loops. */
const bodies: Readonly<Record<DType, Readonly<Partial<Record<KernelName, Code>>>>> = {
  i8: { sum: binary(0x6e), min: binary(0x76), max: binary(0x78), ...bitwise },
  u8: { sum: binary(0x6e), min: binary(0x77), max: binary(0x79), ...bitwise },
  u8c: { sum: binary(0x70), min: binary(0x77), max: binary(0x79), ...bitwise },
  i16: { sum: binary(0x8e), prod: binary(0x95), min: binary(0x96), max: binary(0x98), ...bitwise },
  u16: { sum: binary(0x8e), prod: binary(0x95), min: binary(0x97), max: binary(0x99), ...bitwise },
  i32: { sum: binary(0xae), prod: binary(0xb5), min: binary(0xb6), max: binary(0xb8), ...bitwise },
  u32: { sum: binary(0xae), prod: binary(0xb5), min: binary(0xb7), max: binary(0xb9), ...bitwise },
  i64: {
    sum: binary(0xce),
    prod: binary(0xd5),
    min: select(greater64, right, left),
    max: select(greater64, left, right),
    ...bitwise,
  },
  u64: {
    sum: binary(0xce),
    prod: binary(0xd5),
    min: select(above64, right, left),
    max: select(above64, left, right),
    ...bitwise,
  },
  f16: halfKernels(f16),
  bf16: halfKernels(bf16),
  f32: { sum: binary(0xe4), prod: binary(0xe6), min: binary(0xe8), max: binary(0xe9) },
  f64: { sum: binary(0xf0), prod: binary(0xf2), min: binary(0xf4), max: binary(0xf5) },
}

/** Of each operand at a time. */
const blockBytes = 65536
const pageBytes = 65536

let memory: WebAssembly.Memory | undefined
const made = new Map<Code, Combine | undefined>()

/**
 * The kernel of a pair; undefined where there is none, where the runtime has no WebAssembly SIMD, or where a page's policy forbids
 * it. Compiled when first asked for: a program uses few.
 */
export function simdKernel(dtype: DType, name: KernelName): Combine | undefined {
  const body = bodies[dtype][name]
  if (!body) return undefined
  if (!made.has(body)) made.set(body, compile(body))
  return made.get(body)
}

function compile(body: Code): Combine | undefined {
  try {
    memory ??= new WebAssembly.Memory({ initial: (2 * blockBytes) / pageBytes })
    const module = new WebAssembly.Module(assemble(body, blockBytes))
    const { k } = new WebAssembly.Instance(module, { m: { m: memory } }).exports
    return combineWith(k as (bytes: number) => void, memory.buffer)
  } catch {
    return undefined
  }
}

function combineWith(kernel: (bytes: number) => void, buffer: ArrayBuffer): Combine {
  const atLeft = new Uint8Array(buffer, 0, blockBytes)
  const atRight = new Uint8Array(buffer, blockBytes, blockBytes)
  return (out, left, right) => {
    const target = bytesOf(out)
    const [a, b] = [bytesOf(left), bytesOf(right)]
    for (let at = 0; at < target.length; at += blockBytes) {
      const end = Math.min(at + blockBytes, target.length)
      atLeft.set(a.subarray(at, end))
      atRight.set(b.subarray(at, end))
      // Beyond the end the last vectors hold what is left over from earlier, and give what nobody reads.
      kernel(end - at)
      target.set(atLeft.subarray(0, end - at), at)
    }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: NumericArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
