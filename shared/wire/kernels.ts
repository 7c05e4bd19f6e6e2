/**
 * Combining values, as plain loops: out[i] = left[i] (+) right[i] for i < out.length; `out` may be one of the operands. What comes
 * out for NaN, -0, infinities and overflow is in docs/numbers.md.
 *
 * Engines compile a loop for the array types that it has met and give up beyond four of them (thirty times slower in V8). So
 * each loop below serves three types at most: where the bits are the same, unsigned integers are combined as signed ones.
 */
import type { BigArray, DType, NumericArray } from './dtype.ts'
import { dtypes } from './dtype.ts'
import { bf16, f16, type Half } from './half.ts'
import type { OperatorName } from './operator.ts'

export type Combine<T extends NumericArray = NumericArray> = (out: T, left: T, right: T) => void

/** A mean is a sum until it is finished. */
export type KernelName = Exclude<OperatorName, 'mean'>

type FloatArray = Float32Array | Float64Array
type SignedArray = Int8Array | Int16Array | Int32Array
type UnsignedArray = Uint8Array | Uint16Array | Uint32Array

type Arithmetic<T extends NumericArray> = Readonly<Record<'sum' | 'prod' | 'min' | 'max', Combine<T>>>
type Bitwise<T extends NumericArray> = Readonly<Record<'band' | 'bor' | 'bxor', Combine<T>>>

const floats: Arithmetic<FloatArray> = {
  sum(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! + right[i]!
  },
  prod(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! * right[i]!
  },
  min(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = Math.min(left[i]!, right[i]!)
  },
  max(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = Math.max(left[i]!, right[i]!)
  },
}

/** What does not fit is cut to its low bits by the store. */
const signed: Arithmetic<SignedArray> & Bitwise<SignedArray> = {
  sum(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! + right[i]!
  },
  prod(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = Math.imul(left[i]!, right[i]!)
  },
  min(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = Math.min(left[i]!, right[i]!)
  },
  max(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = Math.max(left[i]!, right[i]!)
  },
  band(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! & right[i]!
  },
  bor(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! | right[i]!
  },
  bxor(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! ^ right[i]!
  },
}

const unsigned: Pick<Arithmetic<UnsignedArray>, 'min' | 'max'> = {
  min(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = Math.min(left[i]!, right[i]!)
  },
  max(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = Math.max(left[i]!, right[i]!)
  },
}

/** The store clamps to 0 .. 255: no order of the operands changes that. */
const clamped: Pick<Arithmetic<Uint8ClampedArray>, 'sum' | 'prod'> = {
  sum(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! + right[i]!
  },
  prod(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! * right[i]!
  },
}

const bigs: Arithmetic<BigArray> & Bitwise<BigArray> = {
  sum(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! + right[i]!
  },
  prod(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! * right[i]!
  },
  min(out, left, right) {
    for (let i = 0; i < out.length; i++) {
      let value = left[i]!
      if (right[i]! < value) value = right[i]!
      out[i] = value
    }
  },
  max(out, left, right) {
    for (let i = 0; i < out.length; i++) {
      let value = left[i]!
      if (right[i]! > value) value = right[i]!
      out[i] = value
    }
  },
  band(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! & right[i]!
  },
  bor(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! | right[i]!
  },
  bxor(out, left, right) {
    for (let i = 0; i < out.length; i++) out[i] = left[i]! ^ right[i]!
  },
}

/** Each combine is done in float32 and rounded once to the type. */
function halves({ toNumber, toWord }: Half): Arithmetic<Uint16Array> {
  return {
    sum(out, left, right) {
      for (let i = 0; i < out.length; i++) out[i] = toWord(toNumber(left[i]!) + toNumber(right[i]!))
    },
    prod(out, left, right) {
      for (let i = 0; i < out.length; i++) out[i] = toWord(toNumber(left[i]!) * toNumber(right[i]!))
    },
    min(out, left, right) {
      for (let i = 0; i < out.length; i++) out[i] = toWord(Math.min(toNumber(left[i]!), toNumber(right[i]!)))
    },
    max(out, left, right) {
      for (let i = 0; i < out.length; i++) out[i] = toWord(Math.max(toNumber(left[i]!), toNumber(right[i]!)))
    },
  }
}

/** The kernel on arrays of any type with the same memory. */
function on<T extends NumericArray>(dtype: DType, combine: Combine<T>): Combine {
  const { view } = dtypes[dtype]
  const as = (array: NumericArray) => view(array.buffer, array.byteOffset, array.length) as T
  return (out, left, right) => combine(as(out), as(left), as(right))
}

function allOn<T extends NumericArray, Name extends KernelName>(
  dtype: DType,
  loops: Readonly<Record<Name, Combine<T>>>,
): Readonly<Record<Name, Combine>> {
  const names = Object.keys(loops) as Name[]
  return Object.fromEntries(names.map((name) => [name, on(dtype, loops[name])])) as Record<Name, Combine>
}

type Kernels = Readonly<Partial<Record<KernelName, Combine>>>

const i8 = allOn('i8', signed)
const i16 = allOn('i16', signed)
const i32 = allOn('i32', signed)
const i64 = allOn('i64', bigs)
const u8 = { ...i8, ...allOn('u8', unsigned) }

/** By type; what is missing does not exist (operator.ts). */
export const kernels: Readonly<Record<DType, Kernels>> = {
  i8,
  u8,
  u8c: { ...u8, ...allOn('u8c', clamped) },
  i16,
  u16: { ...i16, ...allOn('u16', unsigned) },
  i32,
  u32: { ...i32, ...allOn('u32', unsigned) },
  i64,
  u64: { ...i64, ...allOn<BigUint64Array, 'min' | 'max'>('u64', { min: bigs.min, max: bigs.max }) },
  f16: allOn('f16', halves(f16)),
  bf16: allOn('bf16', halves(bf16)),
  f32: allOn('f32', floats),
  f64: allOn('f64', floats),
}
