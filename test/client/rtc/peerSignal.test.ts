import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePeerSignal } from '../../../client/rtc/peerSignal.ts'
import { ProtocolError } from '../../../shared/base/errors.ts'

describe('signals of peers', () => {
  it.each([
    { type: 'offer', attempt: 1, sdp: 'v=0' },
    { type: 'answer', attempt: 2, sdp: '' },
    { type: 'candidate', attempt: 3, candidate: { candidate: '', sdpMid: null, sdpMLineIndex: 0 } },
    { type: 'candidate', attempt: 3, candidate: { candidate: 'a=candidate:1', sdpMid: '0' } },
    { type: 'again', attempt: 4 },
  ])('come through as they are: $type', (signal) => {
    expect(parsePeerSignal('a', signal)).toEqual(signal)
  })

  it.each([
    [undefined],
    [{ type: 'offer', sdp: 'v=0' }],
    [{ type: 'offer', attempt: 0, sdp: 'v=0' }],
    [{ type: 'offer', attempt: 1.5, sdp: 'v=0' }],
    [{ type: 'offer', attempt: 1, sdp: 'x'.repeat(20_000) }],
    [{ type: 'candidate', attempt: 1, candidate: 'text' }],
    [{ type: 'candidate', attempt: 1, candidate: { candidate: 'x', sdpMLineIndex: -1 } }],
    [{ type: 'renegotiate', attempt: 1 }],
  ])('are refused with their sender and the fault: %j', (signal) => {
    expect(() => parsePeerSignal('mallory', signal)).toThrow(ProtocolError)
    expect(() => parsePeerSignal('mallory', signal)).toThrow(/signal of mallory/)
  })

  it('never fail in another way', () => {
    fc.assert(
      fc.property(fc.anything(), (data) => {
        try {
          parsePeerSignal('x', data)
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
        }
      }),
    )
  })
})
