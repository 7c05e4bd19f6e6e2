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

/**
 * The value and the memory of its arrays, which then moves without a copy. The data of a collective's result are the caller's alone;
 * anything else the group may keep, so it goes as a copy.
 */
export function transferablesOf(value: unknown): { value: unknown; transfer: Transferable[] } {
  const isRecord = typeof value === 'object' && value !== null && 'data' in value
  if (!isRecord || !isArray(value.data)) return { value, transfer: [] }
  const { data } = value
  const isOwn = 'report' in value && data.byteLength === data.buffer.byteLength
  const sent = isOwn ? data : data.slice()
  return { value: { ...value, data: sent }, transfer: [sent.buffer as ArrayBuffer] }
}
