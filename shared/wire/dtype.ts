/**
 * Element types on the wire: little-endian, as typed arrays hold them. Half-precision types have no typed array of their own
 * everywhere: f16 and bf16 are held as the words of a Uint16Array (docs/numbers.md).
 */
import { ArgumentError } from '../base/errors.ts'

export type NumberArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array

export type BigArray = BigInt64Array | BigUint64Array

export type NumericArray = NumberArray | BigArray

/** A Float16Array, where the runtime has it; its words travel as f16. */
export interface NativeFloat16Array {
  readonly [Symbol.toStringTag]: 'Float16Array'
  readonly buffer: ArrayBufferLike
  readonly byteOffset: number
  readonly length: number
  [index: number]: number
}

/** What a collective takes. */
export type VectorArray = NumericArray | NativeFloat16Array

interface ArrayOf {
  i8: Int8Array
  u8: Uint8Array
  u8c: Uint8ClampedArray
  i16: Int16Array
  u16: Uint16Array
  i32: Int32Array
  u32: Uint32Array
  i64: BigInt64Array
  u64: BigUint64Array
  f16: Uint16Array
  bf16: Uint16Array
  f32: Float32Array
  f64: Float64Array
}

export type DType = keyof ArrayOf

export interface DTypeInfo<T extends NumericArray = NumericArray> {
  readonly name: DType
  /** Of one element. */
  readonly bytes: number
  /** Rounds: the operand order shows in the last bits. */
  readonly isFloat: boolean
  create(count: number): T
  /** No copy: `byteOffset` is a multiple of `bytes`. */
  view(buffer: ArrayBufferLike, byteOffset: number, count: number): T
}

interface ArrayType<T> {
  readonly BYTES_PER_ELEMENT: number
  new (count: number): T
  new (buffer: ArrayBufferLike, byteOffset: number, count: number): T
}

function infoOf<T extends NumericArray>(name: DType, Type: ArrayType<T>, isFloat: boolean): DTypeInfo<T> {
  return {
    name,
    bytes: Type.BYTES_PER_ELEMENT,
    isFloat,
    create: (count) => new Type(count),
    view: (buffer, byteOffset, count) => new Type(buffer, byteOffset, count),
  }
}

export const dtypes: { readonly [Name in DType]: DTypeInfo<ArrayOf[Name]> } = {
  i8: infoOf('i8', Int8Array, false),
  u8: infoOf('u8', Uint8Array, false),
  u8c: infoOf('u8c', Uint8ClampedArray, false),
  i16: infoOf('i16', Int16Array, false),
  u16: infoOf('u16', Uint16Array, false),
  i32: infoOf('i32', Int32Array, false),
  u32: infoOf('u32', Uint32Array, false),
  i64: infoOf('i64', BigInt64Array, false),
  u64: infoOf('u64', BigUint64Array, false),
  f16: infoOf('f16', Uint16Array, true),
  bf16: infoOf('bf16', Uint16Array, true),
  f32: infoOf('f32', Float32Array, true),
  f64: infoOf('f64', Float64Array, true),
}

/** By `Symbol.toStringTag`, which also knows arrays of another realm (a frame, a worker). */
const byTag: ReadonlyMap<string, DType> = new Map([
  ['Int8Array', 'i8'],
  ['Uint8Array', 'u8'],
  ['Uint8ClampedArray', 'u8c'],
  ['Int16Array', 'i16'],
  ['Uint16Array', 'u16'],
  ['Int32Array', 'i32'],
  ['Uint32Array', 'u32'],
  ['BigInt64Array', 'i64'],
  ['BigUint64Array', 'u64'],
  ['Float16Array', 'f16'],
  ['Float32Array', 'f32'],
  ['Float64Array', 'f64'],
])

/**
 * The type of the elements of a typed array. Words of a Uint16Array are integers unless `dtype` says f16 or bf16.
 * @throws ArgumentError for anything that is no typed array of numbers, or not of that dtype
 */
export function dtypeOf(data: unknown, dtype?: DType): DTypeInfo {
  const tag: unknown = ArrayBuffer.isView(data) ? Reflect.get(data, Symbol.toStringTag) : undefined
  const own = byTag.get(String(tag))
  if (!own) throw new ArgumentError('data', `Pass a typed array: one of ${[...byTag.keys()].join(', ')}.`)
  if (dtype === undefined || dtype === own) return dtypes[own]
  if (!Object.hasOwn(dtypes, dtype))
    throw new ArgumentError(
      'dtype',
      `There is no dtype "${dtype}". Known: ${Object.keys(dtypes).join(', ')}.`,
    )
  if (own === 'u16' && (dtype === 'f16' || dtype === 'bf16')) return dtypes[dtype]
  throw new ArgumentError(
    'dtype',
    `A ${String(tag)} holds ${own}, not ${dtype}. Leave dtype away; only the words of a Uint16Array may be f16 or bf16.`,
  )
}

/** The same memory as an array that every runtime has: the words of a Float16Array, anything else as it is. */
export function wordsOf(data: VectorArray): NumericArray {
  return isNativeFloat16(data) ? new Uint16Array(data.buffer, data.byteOffset, data.length) : data
}

export function isNativeFloat16(data: VectorArray): data is NativeFloat16Array {
  return data[Symbol.toStringTag] === 'Float16Array'
}
