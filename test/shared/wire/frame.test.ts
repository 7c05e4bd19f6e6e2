import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from '../../../shared/base/errors.ts'
import {
  decodeFrame,
  encodeFrame,
  type Frame,
  type FrameHeader,
  frameHeaderBytes,
  frameKinds,
  maxTotalBytes,
} from '../../../shared/wire/frame.ts'

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const headers: fc.Arbitrary<FrameHeader> = fc.record({
  kind: fc.constantFrom(...(Object.keys(frameKinds) as FrameHeader['kind'][])),
  acknowledge: fc.boolean(),
  epoch: u32,
  op: u32,
  step: u32,
  offset: fc.integer({ min: 0, max: maxTotalBytes - 100 }),
  total: fc.constant(maxTotalBytes),
  settled: u32,
  signature: u32,
  consumed: u32,
})

describe('frames', () => {
  it('come back as they went', () => {
    fc.assert(
      fc.property(headers, fc.uint8Array({ maxLength: 100 }), (header, payload) => {
        const isData = header.kind === 'data' || header.kind === 'ack'
        const expected = { ...header, payload, ...(isData ? { total: 0 } : { settled: 0 }) }
        expect(decodeFrame(encodeFrame(header, payload))).toEqual(expected)
      }),
    )
  })

  it('come with a payload that is a view of the message, at an address for any element', () => {
    fc.assert(
      fc.property(headers, fc.uint8Array({ maxLength: 64 }), (header, payload) => {
        const message = encodeFrame(header, payload)
        const received = decodeFrame(message).payload
        expect(received.buffer).toBe(message.buffer)
        expect(received.byteOffset % 8).toBe(0)
      }),
      { numRuns: 50 },
    )
  })

  /** Refused with a ProtocolError, or a frame that keeps every rule and holds no more than what came. */
  const check = (message: Uint8Array) => {
    let frame: Frame
    try {
      frame = decodeFrame(message)
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError)
      return false
    }
    expect(message[0]).toBe(0x50)
    expect(Object.keys(frameKinds)).toContain(frame.kind)
    expect(frame.payload.buffer).toBe(message.buffer)
    expect(frame.payload.byteLength).toBe(message.byteLength - frameHeaderBytes)
    expect(frame.total).toBeLessThanOrEqual(maxTotalBytes)
    if (frame.kind !== 'data' && frame.kind !== 'ack')
      expect(frame.offset + frame.payload.byteLength).toBeLessThanOrEqual(frame.total)
    return true
  }

  it('are refused, or right, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        check(bytes)
        // The same with a good beginning: the rest of the header is reached more often.
        if (bytes.length > 1) check(Uint8Array.of(0x50, 1 + (bytes[1]! % 8), 0, 0, ...bytes.subarray(4)))
      }),
      { numRuns: 3000 },
    )
  })

  it('are refused, or right, when they are cut off or changed on the way', () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 })
    const cuts = fc.option(fc.nat())
    fc.assert(
      fc.property(
        headers,
        fc.uint8Array({ maxLength: 60 }),
        changes,
        cuts,
        (header, payload, changed, cut) => {
          const message = encodeFrame(header, payload)
          for (const [at, value] of changed) message[at % message.length] = value
          const isAccepted = check(cut === null ? message : message.subarray(0, cut % message.length))
          if (changed.length === 0 && cut === null) expect(isAccepted).toBe(true)
        },
      ),
      { numRuns: 3000 },
    )
  })

  const good = encodeFrame(
    {
      kind: 'ping',
      acknowledge: false,
      epoch: 1,
      op: 2,
      step: 3,
      offset: 4,
      total: 12,
      settled: 0,
      signature: 5,
      consumed: 6,
    },
    new Uint8Array(8),
  )
  const broken = (at: number, value: number) => {
    const bytes = good.slice()
    bytes[at] = value
    return bytes
  }
  it.each([
    ['short', good.subarray(0, 31), /shorter/],
    ['magic', broken(0, 0x51), /0x50/],
    ['kind', broken(1, 9), /kind 9/],
    ['flags', broken(2, 2), /flags/],
    ['length', broken(20, 11), /ends at byte 12 of a message of 11/],
    ['total', broken(23, 1), /at most 4194304/],
  ])('refuse a wrong %s', (_, bytes, message) => {
    expect(() => decodeFrame(bytes)).toThrow(message)
  })
})
