/** What a peer may send that means harm: everything ends as a typed error, and nothing is allocated by a length from outside. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from '../../../shared/base/errors.ts'
import { decodeControl, encodeControl, maxControlBytes } from '../../../shared/collective/control.ts'
import { createDataflow } from '../../../shared/collective/dataflow.ts'
import { createLanes, type Lanes } from '../../../shared/collective/lanes.ts'
import { createMemoryNetwork } from '../../../shared/transport/memory.ts'
import { codecOf, type Wire } from '../../../shared/wire/codec.ts'
import { dtypes } from '../../../shared/wire/dtype.ts'
import { encodeFrame, frameKinds } from '../../../shared/wire/frame.ts'
import { kernels } from '../../../shared/wire/kernels.ts'

const word = fc.integer({ min: 0, max: 0xffffffff })

describe('control messages', () => {
  it('are refused, or right, whatever the bytes', () => {
    const mutated = fc.tuple(fc.nat(), fc.integer({ min: 32, max: 126 })).map(([at, value]) => {
      const bytes = encodeControl({
        type: 'abort',
        op: 1,
        epoch: 2,
        reason: { code: 'ABORTED', message: 'm' },
      })
      bytes[at % bytes.length] = value
      return bytes
    })
    const json = fc.json().map((text) => new TextEncoder().encode(text))
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), mutated, json), (bytes) => {
        try {
          expect(decodeControl(bytes)).toHaveProperty('type')
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
        }
      }),
      { numRuns: 1000 },
    )
    expect(() => decodeControl(new Uint8Array(maxControlBytes + 1))).toThrow(ProtocolError)
  })
})

describe('data frames', () => {
  const count = 128
  const flowOf = (wire: Wire | undefined) =>
    createDataflow({
      part: {
        rank: 0,
        slots: [0],
        input: [0],
        steps: [{ sends: [], receives: [{ from: 1, slots: [0], how: 'append' }], locals: [] }],
        output: [0],
      },
      offsets: [0, count],
      dtype: dtypes.f32,
      combine: kernels.f32.sum!,
      codec: codecOf(wire, 'f32', 'sum'),
      input: new Float32Array(count),
      result: new Float32Array(count),
      segmentBytes: 1024,
      onSendable: () => {},
    })

  it.each([undefined, 'f16', 'q8'] as const)('that do not fit the schedule are refused (%s)', (wire) => {
    const small = fc.integer({ min: 0, max: 3 })
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.oneof(small, word), fc.oneof(small, word), fc.oneof(fc.constant(0), word), fc.nat(700)),
          {
            maxLength: 6,
          },
        ),
        (frames) => {
          const flow = flowOf(wire)
          flow.start()
          for (const [peer, step, offset, length] of frames)
            try {
              flow.accept(peer, step, offset, new Uint8Array(length))
              const [message] = flow.incoming
              expect(message!.arrivedBytes).toBeLessThanOrEqual(4 * count)
            } catch (error) {
              expect(error).toBeInstanceOf(ProtocolError)
            }
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('lanes', () => {
  it('report a peer that sends what is no frame, and go on', async () => {
    const network = createMemoryNetwork()
    const [attacker, victim] = [network.transport('attacker'), network.transport('victim')]
    const offences: ProtocolError[] = []
    let frames = 0
    let lanes: Lanes | undefined
    const opened = new Promise<void>((resolve) => {
      lanes = createLanes({
        transport: victim,
        options: { segmentBytes: 1024, oldestOp: () => 0, settledBelow: () => 0 },
        onFrame: (_, { kind, op }) => void (kind === 'ack' && op === 77 && frames++),
        onLinked: () => resolve(),
        onUnlinked: () => {},
        onFailed: () => {},
        onOffence: (_, error) => offences.push(error),
      })
    })
    attacker.want(['victim'])
    victim.want(['attacker'])
    await opened
    const link = attacker.link('victim')!
    const kinds = fc.integer({ min: 0, max: Object.keys(frameKinds).length + 1 })
    const messages = fc.sample(
      fc.tuple(kinds, fc.uint8Array({ maxLength: 80 })).map(([kind, bytes]) => {
        const message: Uint8Array = bytes.slice()
        if (message.length > 1) message.set([0x50, kind])
        return message
      }),
      { numRuns: 300, seed: 4 },
    )
    // A message for somebody else, wrapped in one that says it is.
    const header = {
      acknowledge: false,
      epoch: 0,
      op: 0,
      step: 0,
      offset: 0,
      settled: 0,
      signature: 0,
      consumed: 0,
    }
    for (const payload of [
      Uint8Array.of(),
      Uint8Array.of(200, 1),
      Uint8Array.of(3, 65, 66, 67),
      Uint8Array.of(0, 1),
    ])
      for (const kind of ['relay', 'relayed'] as const)
        messages.push(encodeFrame({ ...header, kind, total: payload.length }, payload))
    // In the name of ever other peers.
    for (let id = 0; id < 300; id++) {
      const payload = new TextEncoder().encode(`\u0005${String(id).padStart(5, '0')}`)
      messages.push(encodeFrame({ ...header, kind: 'relayed', total: payload.length }, payload))
    }
    for (const message of messages) link.send(message)
    const last = encodeFrame({ ...header, kind: 'ack', op: 77, total: 0 }, new Uint8Array(0))
    link.send(last)
    await expect.poll(() => frames).toBeGreaterThan(0)
    for (const error of offences) expect(error).toBeInstanceOf(ProtocolError)
    expect(offences.length).toBeGreaterThan(200)
    expect(offences.filter(({ issue }) => issue.includes('yet another peer')).length).toBeGreaterThan(100)
    expect([...lanes!.entries()].length).toBeLessThan(140)
    attacker.close()
    victim.close()
  })
})
