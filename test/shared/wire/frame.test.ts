import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from '../../../shared/base/errors.ts'
import { decodeFrame, encodeFrame, type FrameHeader, frameKinds } from '../../../shared/wire/frame.ts'

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const headers: fc.Arbitrary<FrameHeader> = fc.record({
  kind: fc.constantFrom(...(Object.keys(frameKinds) as FrameHeader['kind'][])),
  acknowledge: fc.boolean(),
  epoch: u32,
  op: u32,
  step: u32,
  offset: fc.integer({ min: 0, max: 0x7fffffff }),
  total: fc.constant(0xffffffff),
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

  it('are refused with a ProtocolError when they are malformed, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        try {
          const frame = decodeFrame(bytes)
          // What is accepted has kept every rule.
          expect(bytes[0]).toBe(0x50)
          if (frame.kind === 'ping')
            expect(frame.offset + frame.payload.length).toBeLessThanOrEqual(frame.total)
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
        }
      }),
      { numRuns: 2000 },
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
  ])('refuse a wrong %s', (_, bytes, message) => {
    expect(() => decodeFrame(bytes)).toThrow(message)
  })
})
