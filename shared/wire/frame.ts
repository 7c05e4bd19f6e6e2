/**
 * What travels on a link: a fixed header of 32 bytes, little-endian, then the payload. The header is a multiple of 16
 * bytes so that a payload can be viewed as any typed array without a copy (docs/data-plane.md).
 *
 * | at | bytes | field     | meaning                                                                    |
 * | -- | ----- | --------- | -------------------------------------------------------------------------- |
 * | 0  | 1     | magic     | 0x50                                                                       |
 * | 1  | 1     | kind      | see FrameKind                                                              |
 * | 2  | 2     | flags     | bit 0: acknowledge soon                                                    |
 * | 4  | 4     | epoch     | membership generation that the op runs in                                  |
 * | 8  | 4     | op        | number of the collective                                                   |
 * | 12 | 4     | step      | step of the schedule; probes: sequence number                              |
 * | 16 | 4     | offset    | where the payload begins in its message, bytes                             |
 * | 20 | 4     | total     | all but data and ack: length of the whole message, bytes;                   |
 * |    |       | settled   | data, ack: the sender needs no op below this number any more               |
 * | 24 | 4     | signature | hash of the call (count, dtype, operator, algorithm, ...)                  |
 * | 28 | 4     | consumed  | bytes taken from the link in the other direction so far, modulo 2^32       |
 */
import { ProtocolError } from '../base/errors.ts'

export const frameHeaderBytes = 32
const magic = 0x50

/** Longest message whose length a frame tells: probes are answered with as much. The longest probe is far shorter. */
export const maxTotalBytes = 4 * 1024 * 1024

export const frameKinds = { data: 1, ack: 2, control: 3, ping: 4, pong: 5, relay: 6, relayed: 7 } as const
export type FrameKind = keyof typeof frameKinds
const kindNames = new Map<number, FrameKind>(
  Object.entries(frameKinds).map(([name, number]) => [number, name as FrameKind]),
)

const flagAcknowledge = 1

/** The receiver of data knows how long a message is: its schedule says so. */
const hasTotal = (kind: FrameKind) => kind !== 'data' && kind !== 'ack'

export interface FrameHeader {
  kind: FrameKind
  /** The sender's window runs low: answer with an acknowledgement soon. */
  acknowledge: boolean
  epoch: number
  op: number
  step: number
  offset: number
  /** Of all but data and ack. */
  total: number
  /** Of data and ack. */
  settled: number
  signature: number
  consumed: number
}

export interface Frame extends FrameHeader {
  payload: Uint8Array
}

/** Writes the header into the first 32 bytes of `message`. */
export function writeFrameHeader(message: Uint8Array, header: FrameHeader): void {
  const view = new DataView(message.buffer, message.byteOffset, frameHeaderBytes)
  view.setUint8(0, magic)
  view.setUint8(1, frameKinds[header.kind])
  view.setUint16(2, header.acknowledge ? flagAcknowledge : 0, true)
  view.setUint32(4, header.epoch, true)
  view.setUint32(8, header.op, true)
  view.setUint32(12, header.step, true)
  view.setUint32(16, header.offset, true)
  view.setUint32(20, hasTotal(header.kind) ? header.total : header.settled, true)
  view.setUint32(24, header.signature, true)
  view.setUint32(28, header.consumed, true)
}

export function encodeFrame(header: FrameHeader, payload: Uint8Array): Uint8Array {
  const message = new Uint8Array(frameHeaderBytes + payload.byteLength)
  writeFrameHeader(message, header)
  message.set(payload, frameHeaderBytes)
  return message
}

/** Reads a message from the network. The payload is a view of it. Throws ProtocolError; allocates nothing by a foreign length. */
export function decodeFrame(message: Uint8Array): Frame {
  if (message.byteLength < frameHeaderBytes)
    throw new ProtocolError(`frame of ${message.byteLength} bytes is shorter than its header`)
  const view = new DataView(message.buffer, message.byteOffset, frameHeaderBytes)
  if (view.getUint8(0) !== magic) throw new ProtocolError('frame does not begin with 0x50')
  const kind = kindNames.get(view.getUint8(1))
  if (!kind) throw new ProtocolError(`unknown frame kind ${view.getUint8(1)}`)
  const flags = view.getUint16(2, true)
  if (flags & ~flagAcknowledge) throw new ProtocolError(`unknown frame flags ${flags}`)
  const payload = message.subarray(frameHeaderBytes)
  const offset = view.getUint32(16, true)
  const total = hasTotal(kind) ? view.getUint32(20, true) : 0
  if (total > maxTotalBytes) throw new ProtocolError(`message of ${total} bytes, at most ${maxTotalBytes}`)
  if (hasTotal(kind) && offset + payload.byteLength > total)
    throw new ProtocolError(`frame ends at byte ${offset + payload.byteLength} of a message of ${total}`)
  return {
    kind,
    acknowledge: (flags & flagAcknowledge) !== 0,
    epoch: view.getUint32(4, true),
    op: view.getUint32(8, true),
    step: view.getUint32(12, true),
    offset,
    total,
    settled: hasTotal(kind) ? 0 : view.getUint32(20, true),
    signature: view.getUint32(24, true),
    consumed: view.getUint32(28, true),
    payload,
  }
}

/** FNV-1a over UTF-16 code units: equal calls have equal signatures; unequal ones differ but for 1 in 2^32. */
export function signatureOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
