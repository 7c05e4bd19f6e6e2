/** Arrays between page and worker. */
import type { NumericArray } from '../../shared/wire/dtype.ts'
import type { SentArray } from './messages.ts'

export function isArray(value: unknown): value is NumericArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

export function isSentArray(value: unknown): value is SentArray {
  return typeof value === 'object' && value !== null && 'sentArray' in value
}

/** An array of the class of `like`. */
export function arrayLike(like: NumericArray, length: number): NumericArray {
  const Like = like.constructor as new (length: number) => NumericArray
  return new Like(length)
}

/** The value with arrays of its own, and their memory, which then moves without a copy: what the group keeps stays its own. */
export function transferablesOf(value: unknown): { value: unknown; transfer: Transferable[] } {
  const transfer: Transferable[] = []
  const own = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(own)
    if (!isArray(part)) return part
    const copy = part.slice()
    transfer.push(copy.buffer as ArrayBuffer)
    return copy
  }
  const isResult = typeof value === 'object' && value !== null && 'data' in value
  return { value: isResult ? { ...value, data: own(value.data) } : own(value), transfer }
}
