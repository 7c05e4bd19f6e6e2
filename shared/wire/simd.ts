/**
 * Kernels in WebAssembly SIMD. Operands are copied into its memory and the result back, block by block, and it still wins
 * (docs/numbers.md has the figures). The same bits as the loops of kernels.ts, except for those of a NaN of f32 and f64, which neither
 * promises.
 */
import type { DType, NumericArray } from './dtype.ts'
import { bf16Lanes, combineHalves, f16Lanes, type HalfLanes, select } from './halfLanes.ts'
import type { Combine, KernelName } from './kernels.ts'
import {
  address,
  areaBytes,
  type Code,
  compileLoop,
  get,
  type Loop,
  load,
  locals,
  type Opcode,
  set,
  shift,
  store,
  vector,
  workMemory,
} from './wasm.ts'

const left = get(locals.left)
const right = get(locals.right)
const binary = (opcode: Opcode) => vector(opcode, left, right)

const bitwise = { band: binary('v128.and'), bor: binary('v128.or'), bxor: binary('v128.xor') }

/** The sign bit of both lanes of 64 bits: flipped, unsigned order becomes signed order. */
const signs64 = shift('i64x2.shl', vector('i64x2.eq', left, left), 63)
const flipped = (operand: Code) => vector('v128.xor', operand, signs64)
const greater = binary('i64x2.gt_s')
const above = vector('i64x2.gt_s', flipped(left), flipped(right))

const halfKernels = (lanes: HalfLanes) => {
  const kernel = (opcode: Opcode) => combineHalves(lanes, opcode, left, right)
  return {
    sum: kernel('f32x4.add'),
    prod: kernel('f32x4.mul'),
    min: kernel('f32x4.min'),
    max: kernel('f32x4.max'),
  }
}

/** The low bits of sums and products are the same with and without sign. */
const words16 = { sum: binary('i16x8.add'), prod: binary('i16x8.mul'), ...bitwise }
const words32 = { sum: binary('i32x4.add'), prod: binary('i32x4.mul'), ...bitwise }
const words64 = { sum: binary('i64x2.add'), prod: binary('i64x2.mul'), ...bitwise }
const unsigned8 = { min: binary('i8x16.min_u'), max: binary('i8x16.max_u'), ...bitwise }

/** What is missing (products of bytes, which no instruction multiplies) is left to the loops. */
const bodies: Readonly<Record<DType, Readonly<Partial<Record<KernelName, Code>>>>> = {
  i8: { sum: binary('i8x16.add'), min: binary('i8x16.min_s'), max: binary('i8x16.max_s'), ...bitwise },
  u8: { sum: binary('i8x16.add'), ...unsigned8 },
  u8c: { sum: binary('i8x16.add_sat_u'), ...unsigned8 },
  i16: { ...words16, min: binary('i16x8.min_s'), max: binary('i16x8.max_s') },
  u16: { ...words16, min: binary('i16x8.min_u'), max: binary('i16x8.max_u') },
  i32: { ...words32, min: binary('i32x4.min_s'), max: binary('i32x4.max_s') },
  u32: { ...words32, min: binary('i32x4.min_u'), max: binary('i32x4.max_u') },
  i64: { ...words64, min: select(greater, right, left), max: select(greater, left, right) },
  u64: { ...words64, min: select(above, right, left), max: select(above, left, right) },
  f16: halfKernels(f16Lanes),
  bf16: halfKernels(bf16Lanes),
  f32: {
    sum: binary('f32x4.add'),
    prod: binary('f32x4.mul'),
    min: binary('f32x4.min'),
    max: binary('f32x4.max'),
  },
  f64: {
    sum: binary('f64x2.add'),
    prod: binary('f64x2.mul'),
    min: binary('f64x2.min'),
    max: binary('f64x2.max'),
  },
}

/** Bytes of a turn: four vectors, so that the loop itself costs little. */
const turnPower = 6
const turnBytes = 2 ** turnPower

/** The left operand is in the first area of the memory, the right one in the second; the result takes the place of the left one. */
function loopOf(body: Code): Code {
  const at = address(turnPower)
  const one = (offset: number) => [
    ...set(locals.left, load(at, offset)),
    ...set(locals.right, load(at, areaBytes + offset)),
    ...store(at, offset, body),
  ]
  return [0, 16, 32, 48].flatMap(one)
}

const made = new Map<Code, Combine | undefined>()

/** Undefined where there is no kernel or no WebAssembly SIMD. Compiled when first asked for: a program uses few. */
export function simdKernel(dtype: DType, name: KernelName): Combine | undefined {
  const body = bodies[dtype][name]
  if (!body) return undefined
  if (!made.has(body)) {
    const loop = compileLoop(loopOf(body))
    made.set(body, loop && combineWith(loop))
  }
  return made.get(body)
}

function combineWith(loop: Loop): Combine {
  const buffer = workMemory()
  const atLeft = new Uint8Array(buffer, 0, areaBytes)
  const atRight = new Uint8Array(buffer, areaBytes, areaBytes)
  return (out, left, right) => {
    const target = bytesOf(out)
    const [a, b] = [bytesOf(left), bytesOf(right)]
    for (let at = 0; at < target.length; at += areaBytes) {
      const end = Math.min(at + areaBytes, target.length)
      atLeft.set(a.subarray(at, end))
      atRight.set(b.subarray(at, end))
      // Beyond the end the last turn has what is left over from earlier, and gives what nobody reads.
      loop(Math.ceil((end - at) / turnBytes))
      target.set(atLeft.subarray(0, end - at), at)
    }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: NumericArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
