/**
 * The state of a run as bytes: for a file, and for a newcomer. Little-endian:
 *
 * | at | bytes | what |
 * | --- | --- | --- |
 * | 0 | 4 | "PAPC" |
 * | 4 | 4 | version of the format, 1 |
 * | 8 | 4 | length of the header |
 * | 12 | 4 | 0 |
 * | 16 | | header: JSON in UTF-8, filled up with spaces to a multiple of 8 bytes |
 * | | | the arrays that the header lists, each filled up with zeros to a multiple of 8 bytes |
 * | end | 16 | hash of everything before it, as hexadecimal digits |
 */
import * as v from 'valibot'
import { ProtocolError } from '../base/errors.ts'
import { createHasher } from '../wire/hash.ts'
import { createValues, typeOfValues, type Values, type ValuesType } from './tensors.ts'

export interface RunState {
  /** Rounds completed. */
  readonly round: number
  /** What the tensors are and how they are averaged, as ranks compare it. */
  readonly manifest: string
  readonly model: ReadonlyMap<string, Values>
  /** Of the server-side optimizer. */
  readonly moments: { readonly first: Float64Array; readonly second: Float64Array }
}

const magic = 0x43504150
const version = 1
const prefixBytes = 16
const hashBytes = 16
/** A model of 128 million 32-bit weights. */
export const maxCheckpointBytes = 512 * 1024 * 1024
const maxHeaderBytes = 1024 * 1024

const headerSchema = v.strictObject({
  round: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  manifest: v.pipe(v.string(), v.maxLength(maxHeaderBytes)),
  arrays: v.pipe(
    v.array(
      v.strictObject({
        name: v.pipe(v.string(), v.maxLength(1024)),
        type: v.picklist(['f32', 'f64', 'i32'] as const),
        count: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(maxCheckpointBytes / 4)),
      }),
    ),
    v.maxLength(16_384),
  ),
})

const padded = (bytes: number) => 8 * Math.ceil(bytes / 8)
const bytesOf = (type: ValuesType, count: number) => padded(count * (type === 'f64' ? 8 : 4))

/** Moments are listed after the tensors, under names that no tensor has. */
const momentNames = ['moments/first', 'moments/second'].map((name) => `\u0000${name}`)

interface Content {
  readonly header: Uint8Array
  readonly headerBytes: number
  readonly arrays: readonly Values[]
  readonly total: number
}

function contentOf({ round, manifest, model, moments }: RunState): Content {
  const named: [string, Values][] = [
    ...model,
    [momentNames[0]!, moments.first],
    [momentNames[1]!, moments.second],
  ]
  const arrays = named.map(([, data]) => data)
  const list = named.map(([name, data]) => ({ name, type: typeOfValues(data), count: data.length }))
  const header = new TextEncoder().encode(JSON.stringify({ round, manifest, arrays: list }))
  const headerBytes = padded(header.length)
  const bytes = arrays.reduce((sum, data) => sum + padded(data.byteLength), prefixBytes + headerBytes)
  return { header, headerBytes, arrays, total: bytes + hashBytes }
}

/** Length of what encodeCheckpoint gives. */
export function checkpointBytes(state: RunState): number {
  return contentOf(state).total
}

export function encodeCheckpoint(state: RunState): Uint8Array {
  const { header, headerBytes, arrays, total } = contentOf(state)
  const bytes = new Uint8Array(total)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, magic, true)
  view.setUint32(4, version, true)
  view.setUint32(8, headerBytes, true)
  bytes.fill(0x20, prefixBytes, prefixBytes + headerBytes)
  bytes.set(header, prefixBytes)
  let at = prefixBytes + headerBytes
  for (const data of arrays) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at)
    at += padded(data.byteLength)
  }
  bytes.set(new TextEncoder().encode(digestOf(bytes.subarray(0, at))), at)
  return bytes
}

const digestOf = (bytes: Uint8Array) => createHasher().add(bytes).digest()

/** @throws {ProtocolError} the bytes are not a whole checkpoint of this version, or beyond the limits. */
export function decodeCheckpoint(input: Uint8Array): RunState {
  const refuse = (why: string): never => {
    throw new ProtocolError(`this is not a checkpoint that can be read: ${why}`)
  }
  if (input.length > maxCheckpointBytes) refuse(`it has more than ${maxCheckpointBytes} bytes`)
  if (input.length < prefixBytes + hashBytes) refuse('it is too short')
  // A copy of its own: aligned, and nobody else writes to it.
  const bytes = input.slice()
  const view = new DataView(bytes.buffer)
  if (view.getUint32(0, true) !== magic) refuse('it does not begin with PAPC')
  if (view.getUint32(4, true) !== version) refuse(`its version is ${view.getUint32(4, true)}, not ${version}`)
  const headerBytes = view.getUint32(8, true)
  if (
    headerBytes > maxHeaderBytes ||
    prefixBytes + headerBytes + hashBytes > bytes.length ||
    headerBytes % 8 !== 0
  )
    refuse('its header has a wrong length')
  const end = bytes.length - hashBytes
  if (new TextDecoder().decode(bytes.subarray(end)) !== digestOf(bytes.subarray(0, end)))
    refuse('it was changed or cut off')
  const header = parseHeader(bytes.subarray(prefixBytes, prefixBytes + headerBytes))
  if (!header) return refuse('its header does not follow the format')
  const { round, manifest, arrays } = header
  const total = arrays.reduce((sum, { type, count }) => sum + bytesOf(type, count), prefixBytes + headerBytes)
  if (total !== end) refuse('its arrays do not fill it')
  const read = new Map<string, Values>()
  let at = prefixBytes + headerBytes
  for (const { name, type, count } of arrays) {
    const data = createValues(type, count)
    new Uint8Array(data.buffer).set(bytes.subarray(at, at + data.byteLength))
    read.set(name, data)
    at += bytesOf(type, count)
  }
  if (read.size !== arrays.length) refuse('two arrays have the same name')
  const [first, second] = momentNames.map((name) => read.get(name))
  if (!(first instanceof Float64Array) || !(second instanceof Float64Array))
    return refuse('its moments are missing')
  for (const name of momentNames) read.delete(name)
  return { round, manifest, model: read, moments: { first, second } }
}

function parseHeader(bytes: Uint8Array) {
  try {
    const parsed = v.safeParse(
      headerSchema,
      JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)),
    )
    return parsed.success ? parsed.output : undefined
  } catch {
    return undefined
  }
}
