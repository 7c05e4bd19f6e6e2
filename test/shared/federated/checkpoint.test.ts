import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from '../../../shared/base/errors.ts'
import {
  checkpointBytes,
  decodeCheckpoint,
  encodeCheckpoint,
  type RunState,
} from '../../../shared/federated/checkpoint.ts'

const states: fc.Arbitrary<RunState> = fc.record({
  round: fc.nat(),
  manifest: fc.string(),
  model: fc
    .dictionary(
      fc.string({ maxLength: 20 }).map((name) => `t${name}`),
      fc.oneof(
        fc.float32Array({ maxLength: 20 }),
        fc.float64Array({ maxLength: 20 }),
        fc.int32Array({ maxLength: 20 }),
      ),
    )
    .map((values) => new Map(Object.entries(values))),
  moments: fc.record({ first: fc.float64Array({ maxLength: 9 }), second: fc.float64Array({ maxLength: 9 }) }),
})

describe('checkpoints', () => {
  it('come back as they were, and say how long they are', () =>
    fc.assert(
      fc.property(states, (state) => {
        const bytes = encodeCheckpoint(state)
        expect(bytes.length).toBe(checkpointBytes(state))
        expect(decodeCheckpoint(bytes)).toEqual(state)
      }),
    ))

  it('are refused when a byte is changed, or some are missing, or added', () =>
    fc.assert(
      fc.property(states, fc.nat(), fc.integer({ min: 1, max: 255 }), (state, where, change) => {
        const bytes = encodeCheckpoint(state)
        const changed = bytes.slice()
        changed[where % bytes.length]! ^= change
        // The four bytes at 12 are reserved, and the hash covers them too.
        expect(() => decodeCheckpoint(changed)).toThrow(ProtocolError)
        expect(() => decodeCheckpoint(bytes.subarray(0, where % bytes.length))).toThrow(ProtocolError)
        expect(() => decodeCheckpoint(new Uint8Array([...bytes, change]))).toThrow(ProtocolError)
      }),
    ))

  it('may lie anywhere in a larger buffer', () => {
    const state: RunState = {
      round: 3,
      manifest: 'm',
      model: new Map([['w', new Float32Array([1, 2, 3])]]),
      moments: { first: new Float64Array(0), second: new Float64Array(0) },
    }
    const bytes = encodeCheckpoint(state)
    const larger = new Uint8Array(bytes.length + 3)
    larger.set(bytes, 3)
    expect(decodeCheckpoint(larger.subarray(3))).toEqual(state)
  })
})
