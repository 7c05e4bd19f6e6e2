/** Lossy wires over real schedules: the same bits on every rank, errors within the bound, feedback that adds up. */
import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import { combinesOnce } from '../../../shared/cost/candidates.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { algorithms, findAlgorithm } from '../../../shared/schedule/registry.ts'
import type { Algorithm, Settings } from '../../../shared/schedule/types.ts'
import { codecOf, type Wire } from '../../../shared/wire/codec.ts'
import { dtypes } from '../../../shared/wire/dtype.ts'
import { createFeedback } from '../../../shared/wire/feedback.ts'
import { kernels } from '../../../shared/wire/kernels.ts'
import { runDataflow } from '../../support/runDataflow.ts'

/** Up to four of the variants, the first and the last among them. */
const someOf = (algorithm: Algorithm, size: number): Settings[] => {
  const variants = algorithm.variants(size)
  const step = Math.max(1, Math.ceil((variants.length - 1) / 3))
  return variants.filter((_, i) => i % step === 0 || i === variants.length - 1)
}

const run = (
  { algorithm, size, settings = {} }: { algorithm: Algorithm; size: number; settings?: Settings },
  wire: Wire,
  inputs: readonly Float32Array<ArrayBufferLike>[],
  residuals?: Float32Array[],
) =>
  runDataflow({
    schedule: buildSchedule(algorithm, size, settings),
    dtype: dtypes.f32,
    combine: kernels.f32.sum!,
    inputs,
    segmentBytes: 200,
    seed: size,
    codec: codecOf(wire, 'f32', 'sum'),
    residuals,
  })

const inputsOf = (size: number, count: number, seed: number) => {
  const prng = createPrng(seed)
  return Array.from({ length: size }, () =>
    Float32Array.from({ length: count }, () => (prng.next() * 2 - 1) * 2 ** prng.below(4)),
  )
}
const exactSum = (inputs: readonly Float32Array<ArrayBufferLike>[]) =>
  Float64Array.from(inputs[0]!, (_, i) => inputs.reduce((sum, input) => sum + input[i]!, 0))
const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array<ArrayBufferLike>) =>
  new Uint8Array(buffer, byteOffset, byteLength)

describe('a lossy wire', () => {
  for (const algorithm of algorithms)
    if (algorithm.collective === 'allreduce' && !algorithm.restrictions.idempotent)
      it(`${algorithm.name}: all ranks end with the same bits where results are made once, and near the sum everywhere`, () => {
        for (const size of [1, 2, 5, 8])
          for (const settings of someOf(algorithm, size))
            for (const wire of ['f16', 'q8'] as const) {
              const inputs = inputsOf(size, 64 * 5, size)
              const sum = exactSum(inputs)
              const before = inputs.map((input) => input.slice())
              const results = run({ algorithm, size, settings }, wire, inputs)
              expect(inputs).toEqual(before)
              // Each of at most 2 P roundings is of a number of at most 16 P.
              const bound = 2 * size * 16 * size * (wire === 'q8' ? 1 / 253 : 2 ** -11)
              for (const result of results) {
                const worst = result.reduce((most, x, i) => Math.max(most, Math.abs(x - sum[i]!)), 0)
                expect(worst, `${size} ${JSON.stringify(settings)}`).toBeLessThan(bound)
              }
              if (combinesOnce(algorithm, size, settings))
                for (const result of results) expect(bytesOf(result)).toEqual(bytesOf(results[0]!))
            }
      })

  it.each([
    ['two-shot', 'q8', 1 / 253],
    ['two-shot', 'f16', 2 ** -11],
    ['two-shot', 'bf16', 2 ** -8],
  ] as const)('%s over %s rounds each input once and the sum once', (name, wire, unit) => {
    const size = 7
    const inputs = inputsOf(size, 64 * 14, 3)
    const [result] = run({ algorithm: findAlgorithm(name, 'allreduce'), size }, wire, inputs)
    const sum = exactSum(inputs)
    for (let block = 0; block < sum.length; block += 64) {
      const largest = (values: ArrayLike<number>) =>
        Math.max(...Array.from({ length: 64 }, (_, i) => Math.abs(values[block + i]!)))
      const ofInputs = inputs.reduce((all, input) => all + largest(input), 0)
      const bound = unit * (ofInputs + (largest(sum) + unit * ofInputs)) * (1 + 2 ** -10)
      for (let i = block; i < block + 64; i++)
        expect(Math.abs(result![i]! - sum[i]!)).toBeLessThanOrEqual(bound)
    }
  })
})

describe('error feedback', () => {
  for (const algorithm of algorithms)
    if (algorithm.collective === 'allreduce' && !algorithm.restrictions.idempotent)
      it(`${algorithm.name}: the errors of a series of calls do not add up`, () => {
        for (const size of [1, 5, 6])
          for (const settings of someOf(algorithm, size)) {
            if (!combinesOnce(algorithm, size, settings)) continue
            const inputs = inputsOf(size, 64 * 5, size)
            const sum = exactSum(inputs)
            const handles = inputs.map(() => createFeedback())
            const total = new Float64Array(sum.length)
            const calls = 4
            for (let call = 0; call < calls; call++) {
              const residuals = inputs.map((input) => new Float32Array(input.length))
              const fed = inputs.map((input, rank) => handles[rank]!.borrow(input) as Float32Array)
              const [result] = run({ algorithm, size, settings }, 'q8', fed, residuals)
              for (const [rank, handle] of handles.entries()) handle.give(residuals[rank])
              result!.forEach((x, i) => {
                total[i]! += x
              })
            }
            // Exactly: sum of results + what the ranks hold = sum of inputs; float32 rounds a little on the way.
            for (let i = 0; i < sum.length; i++) {
              const held = handles.reduce((all, handle) => all + handle.error![i]!, 0)
              expect(Math.abs(total[i]! + held - calls * sum[i]!)).toBeLessThan(calls * size * 2 ** -13)
            }
          }
      })
})
