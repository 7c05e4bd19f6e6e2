/**
 * STUN binding as in RFC 8489: the answer to "from which address do you see me?". Pure: bytes in, bytes out.
 * Everything that is not a well-formed binding request gets no answer at all.
 */
import { isIPv4 } from 'node:net'
import { crc32 } from 'node:zlib'
import { ipv6Groups, unmapped } from './address.ts'

const bindingRequest = 0x0001
const bindingSuccess = 0x0101
const bindingError = 0x0111
const magicCookie = 0x2112a442
const headerBytes = 20
const xorMappedAddress = 0x0020
const errorCode = 0x0009
const unknownAttributes = 0x000a
const fingerprint = 0x8028
const fingerprintXor = 0x5354554e
/** What a client must fit its requests into when it knows nothing of the path (section 6.1), for IPv6. */
const largestRequest = 1280
/** Attributes of the range that must be understood and that say nothing to a responder without accounts. */
const understood = new Set([
  0x0001, 0x0006, 0x0008, 0x0009, 0x000a, 0x0014, 0x0015, 0x001c, 0x001d, 0x001e, 0x0020,
])
/** An answer never lists more than this, so that no request can make it much longer than itself. */
const mostUnknown = 8

export interface Sender {
  readonly address: string
  readonly port: number
}

/** The answer to a datagram, or undefined when it deserves none. */
export function answerBinding(request: Uint8Array, sender: Sender): Buffer | undefined {
  const message = Buffer.from(request.buffer, request.byteOffset, request.byteLength)
  if (message.length < headerBytes || message.length > largestRequest) return undefined
  if (message.readUInt16BE(0) !== bindingRequest || message.readUInt32BE(4) !== magicCookie) return undefined
  if (message.readUInt16BE(2) !== message.length - headerBytes) return undefined
  const attributes = attributesOf(message)
  if (!attributes) return undefined
  const unknown = attributes.filter((type) => type < 0x8000 && !understood.has(type)).slice(0, mostUnknown)
  const body = unknown.length > 0 ? refusal(unknown) : mapped(sender, message.subarray(4, headerBytes))
  const type = unknown.length > 0 ? bindingError : bindingSuccess
  const hasFingerprint = attributes.includes(fingerprint)
  const answer = Buffer.concat([message.subarray(0, headerBytes), body])
  answer.writeUInt16BE(type, 0)
  answer.writeUInt16BE(body.length + (hasFingerprint ? 8 : 0), 2)
  return hasFingerprint ? Buffer.concat([answer, attribute(fingerprint, checksum(answer))]) : answer
}

/** The types of all attributes; undefined when they do not add up or the fingerprint is wrong. */
function attributesOf(message: Buffer): readonly number[] | undefined {
  const types: number[] = []
  let at = headerBytes
  while (at < message.length) {
    if (at + 4 > message.length) return undefined
    const type = message.readUInt16BE(at)
    const length = message.readUInt16BE(at + 2)
    const next = at + 4 + padded(length)
    if (next > message.length) return undefined
    if (type === fingerprint) {
      const isRight = length === 4 && checksum(message.subarray(0, at)).equals(message.subarray(at + 4, next))
      if (!isRight || next !== message.length) return undefined
    }
    types.push(type)
    at = next
  }
  return types
}

/** CRC-32 of everything before the attribute, XOR "STUN" (section 14.7). */
function checksum(before: Buffer): Buffer {
  const value = Buffer.alloc(4)
  value.writeUInt32BE((crc32(before) ^ fingerprintXor) >>> 0)
  return value
}

/** XOR-MAPPED-ADDRESS (section 14.2): `key` is the magic cookie and the transaction id. */
function mapped(sender: Sender, key: Buffer): Buffer {
  const address = unmapped(sender.address)
  const isV4 = isIPv4(address)
  const groups = isV4 ? [] : ipv6Groups(address)
  const bytes = isV4 ? address.split('.').map(Number) : groups.flatMap((group) => [group >> 8, group & 0xff])
  const value = Buffer.from([
    0,
    isV4 ? 1 : 2,
    (sender.port >> 8) ^ key.readUInt8(0),
    (sender.port & 0xff) ^ key.readUInt8(1),
    ...bytes.map((byte, index) => byte ^ key.readUInt8(index)),
  ])
  return attribute(xorMappedAddress, value)
}

function refusal(unknown: readonly number[]): Buffer {
  const code = Buffer.from([0, 0, 4, 20, ...Buffer.from('Unknown Attribute')])
  const list = Buffer.from(unknown.flatMap((type) => [type >> 8, type & 0xff]))
  return Buffer.concat([attribute(errorCode, code), attribute(unknownAttributes, list)])
}

function attribute(type: number, value: Buffer): Buffer {
  const bytes = Buffer.alloc(4 + padded(value.length))
  bytes.writeUInt16BE(type, 0)
  bytes.writeUInt16BE(value.length, 2)
  value.copy(bytes, 4)
  return bytes
}

function padded(length: number): number {
  return (length + 3) & ~3
}
