/**
 * A codec at work in the dataflow of one op. Ranks end with the same bits because of one rule: a value that is sent and lives on at its
 * sender is first replaced by what the others will decode, and so is every result. Codecs are projections (wire/codec.ts), so
 * passing the value on changes nothing more.
 */
import type { RankSchedule } from '../schedule/types.ts'
import type { Codec, FloatArray } from '../wire/codec.ts'
import type { DTypeInfo, NumericArray } from '../wire/dtype.ts'

export interface Coding {
  /** Bytes of the elements of a full segment, before they are encoded. */
  readonly segmentBytes: number
  wireBytes(rawBytes: number): number
  /** Room for the elements of a segment; encode takes them from here. */
  readonly raw: Uint8Array
  encode(rawBytes: number, target: Uint8Array): void
  /** Bytes of the elements in so many bytes of the wire; undefined when no whole blocks have so many. */
  rawBytesIn(wireBytes: number): number | undefined
  decode(payload: Uint8Array): Uint8Array
  /** What others will decode when `values`, which stand at `position` of the vector, are sent; the loss is noted. */
  project(values: NumericArray, position: number, out?: NumericArray): void
}

export function createCoding(
  codec: Codec,
  dtype: DTypeInfo,
  /** Elements of the vector, in whole blocks. */
  count: number,
  wireSegmentBytes: number,
  residual: FloatArray | undefined,
): Coding {
  const blocks = Math.max(1, Math.floor(wireSegmentBytes / codec.encodedBytes(codec.block)))
  const elements = Math.min(blocks * codec.block, Math.max(codec.block, count))
  // The table of wires (codec.ts) has floats only.
  const floats = (array: NumericArray) => array as FloatArray
  const segment = dtype.create(elements)
  const encoded = new Uint8Array(codec.encodedBytes(elements))
  const decoded = floats(dtype.create(elements))
  return {
    segmentBytes: elements * dtype.bytes,
    wireBytes: (rawBytes) => codec.encodedBytes(rawBytes / dtype.bytes),
    raw: new Uint8Array(segment.buffer),
    encode: (rawBytes, target) => codec.encode(floats(segment).subarray(0, rawBytes / dtype.bytes), target),
    rawBytesIn(wireBytes) {
      const count = codec.elementsIn(wireBytes)
      return count === undefined ? undefined : count * dtype.bytes
    },
    decode(payload) {
      const values = floats(dtype.create(codec.elementsIn(payload.byteLength) ?? 0))
      codec.decode(payload, values)
      return new Uint8Array(values.buffer)
    },
    project(values, position, out) {
      for (let from = 0; from < values.length; from += elements) {
        const piece = floats(values).subarray(from, from + elements)
        const bytes = encoded.subarray(0, codec.encodedBytes(piece.length))
        const after = decoded.subarray(0, piece.length)
        codec.encode(piece, bytes)
        codec.decode(bytes, after)
        if (residual)
          for (let i = 0; i < piece.length; i++) residual[position + from + i]! += piece[i]! - after[i]!
        out?.set(after as never, from)
      }
    },
  }
}

/** For each step the slots that are sent in it and whose value is used afterwards other than by sending it on. */
export function findLastingSends(part: RankSchedule): ReadonlySet<number>[] {
  const isUsed = new Set(part.output)
  const use = (slot: number, isRead: boolean) => {
    if (isRead) isUsed.add(slot)
    else isUsed.delete(slot)
  }
  const lasting: Set<number>[] = []
  for (let index = part.steps.length - 1; index >= 0; index--) {
    const { sends, receives, locals } = part.steps[index]!
    for (const { from, slot, how } of locals.slice().reverse()) {
      use(slot, how !== 'store')
      use(from, true)
    }
    for (const { slots, how } of receives.slice().reverse())
      for (const slot of slots) use(slot, how !== 'store')
    lasting[index] = new Set(sends.flatMap(({ slots }) => slots.filter((slot) => isUsed.has(slot))))
  }
  return lasting
}
