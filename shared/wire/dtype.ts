/** Element types on the wire: little-endian, as typed arrays hold them. */
import { ArgumentError } from '../base/errors.ts'

export type NumericArray = Float32Array | Float64Array | Int32Array

export type DType = 'f32' | 'f64' | 'i32'

export interface DTypeInfo {
  readonly name: DType
  readonly bytes: number
  /** Rounds: the operand order shows in the last bits. */
  readonly isFloat: boolean
  create(count: number): NumericArray
  view(buffer: ArrayBufferLike, byteOffset: number, count: number): NumericArray
}

const f32: DTypeInfo = {
  name: 'f32',
  bytes: 4,
  isFloat: true,
  create: (count) => new Float32Array(count),
  view: (buffer, byteOffset, count) => new Float32Array(buffer, byteOffset, count),
}
const f64: DTypeInfo = {
  name: 'f64',
  bytes: 8,
  isFloat: true,
  create: (count) => new Float64Array(count),
  view: (buffer, byteOffset, count) => new Float64Array(buffer, byteOffset, count),
}
const i32: DTypeInfo = {
  name: 'i32',
  bytes: 4,
  isFloat: false,
  create: (count) => new Int32Array(count),
  view: (buffer, byteOffset, count) => new Int32Array(buffer, byteOffset, count),
}

export const dtypes: Readonly<Record<DType, DTypeInfo>> = { f32, f64, i32 }

export function dtypeOf(data: unknown): DTypeInfo {
  if (data instanceof Float32Array) return f32
  if (data instanceof Float64Array) return f64
  if (data instanceof Int32Array) return i32
  throw new ArgumentError('data', 'Pass a Float32Array, Float64Array or Int32Array.')
}
