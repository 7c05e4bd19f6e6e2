import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import { createDataflow } from '../../../shared/collective/dataflow.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'
import type { RankSchedule } from '../../../shared/schedule/types.ts'
import { dtypes } from '../../../shared/wire/dtype.ts'
import { kernels } from '../../../shared/wire/kernels.ts'
import { runDataflow } from '../../support/runDataflow.ts'

const allreduces = algorithms.filter(
  (algorithm) => algorithm.collective === 'allreduce' && !algorithm.restrictions.idempotent,
)

describe('createDataflow', () => {
  for (const algorithm of allreduces)
    it(`${algorithm.name}: every rank gets the sum, whatever the order of arrival and the size of segments`, () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 17 }),
          fc.nat(),
          fc.constantFrom(0, 1, 3, 16, 17, 64, 1009),
          fc.constantFrom(8, 64, 4096),
          fc.integer(),
          (size, pick, count, segmentBytes, seed) => {
            const variants = algorithm.variants(size)
            fc.pre(variants.length > 0)
            const settings = variants[pick % variants.length]!
            const schedule = buildSchedule(algorithm, size, settings)
            const prng = createPrng(seed)
            const inputs = Array.from({ length: size }, () =>
              Int32Array.from({ length: count }, () => prng.below(2 ** 31) - 2 ** 30),
            )
            const before = inputs.map((input) => input.slice())
            const expected = Int32Array.from({ length: count }, (_, i) =>
              inputs.reduce((sum, input) => (sum + input[i]!) | 0, 0),
            )
            const { i32: dtype } = dtypes
            const combine = kernels.i32.sum!
            const run = { schedule, dtype, combine, inputs, segmentBytes, seed }
            for (const result of runDataflow(run)) expect(result).toEqual(expected)
            expect(inputs).toEqual(before)
          },
        ),
        { numRuns: 60 },
      )
    })

  const pair: RankSchedule = {
    rank: 0,
    slots: [0],
    input: [0],
    steps: [
      { sends: [{ to: 1, slots: [0] }], receives: [{ from: 1, slots: [0], how: 'append' }], locals: [] },
    ],
    output: [0],
  }
  const flowOf = (input: Float64Array, sent: Uint8Array[] = []) =>
    createDataflow({
      part: pair,
      offsets: [0, input.length],
      dtype: dtypes.f64,
      combine: kernels.f64.sum!,
      input,
      result: new Float64Array(input.length),
      segmentBytes: 16,
      onSendable(message) {
        const bytes = message.nextSegment()
        if (bytes < 0) return
        const payload = new Uint8Array(bytes)
        message.take(payload)
        sent.push(payload)
      },
    })

  it('refuses what the schedule does not expect', () => {
    const flow = flowOf(Float64Array.of(1, 2, 3))
    flow.start()
    const word = new Uint8Array(8)
    expect(() => flow.accept(2, 0, 0, word)).toThrow(/rank 2 sent a message of step 0/)
    expect(() => flow.accept(1, 1, 0, word)).toThrow(/step 1/)
    expect(() => flow.accept(1, 0, 0, new Uint8Array(32))).toThrow(/byte 32 of a message of 24/)
    expect(() => flow.accept(1, 0, 8, word)).toThrow(/expected 0/)
    expect(() => flow.accept(1, 0, 0, new Uint8Array(5))).toThrow(/5 bytes of f64/)
    flow.accept(1, 0, 0, new Uint8Array(24))
    expect(() => flow.accept(1, 0, 0, word)).toThrow(/expected 24/)
  })

  it('says whom it waits for until the message is whole', () => {
    const flow = flowOf(Float64Array.of(1, 2, 3))
    flow.start()
    expect(flow.waitingFor()).toEqual({ step: 0, peers: [1] })
    flow.accept(1, 0, 0, new Uint8Array(16))
    expect(flow.waitingFor()).toEqual({ step: 0, peers: [1] })
    flow.accept(1, 0, 16, new Uint8Array(8))
    expect(flow.waitingFor().peers).toEqual([])
  })

  it('takes a payload that is not aligned to its elements', () => {
    const result = new Float64Array(1)
    const flow = createDataflow({
      part: {
        ...pair,
        steps: [{ sends: [], receives: [{ from: 1, slots: [0], how: 'append' }], locals: [] }],
      },
      offsets: [0, 1],
      dtype: dtypes.f64,
      combine: kernels.f64.sum!,
      input: Float64Array.of(1),
      result,
      segmentBytes: 16,
      onSendable: () => {},
    })
    const bytes = new Uint8Array(11)
    bytes.set(new Uint8Array(Float64Array.of(41).buffer), 3)
    flow.start()
    flow.accept(1, 0, 0, bytes.subarray(3))
    expect(result[0]).toBe(42)
  })
})
