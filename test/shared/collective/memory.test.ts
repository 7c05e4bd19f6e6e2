/** Memory of an op beside input and result, as docs/data-plane.md states it ("Memory of an op"): counted where it is set aside. */
import { expect, it } from 'vitest'
import { createDataflow } from '../../../shared/collective/dataflow.ts'
import { planOf } from '../../../shared/collective/plan.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'
import type { Algorithm, Settings } from '../../../shared/schedule/types.ts'
import { dtypes } from '../../../shared/wire/dtype.ts'

const sizes = [1, 2, 3, 5, 7, 8, 12]

/** Work space in parts of all chunks together, of the rank that has most. */
function workSpace(algorithm: Algorithm, size: number, settings: Settings): number {
  const count = 240 * size
  const { part: partOf, offsets } = planOf(algorithm, settings, size, count)
  const shares = Array.from({ length: size }, (_, rank) => {
    const part = partOf(rank)
    const lengthOf = (slots: readonly number[]) =>
      [...new Set(slots.map((slot) => part.slots[slot]!))].reduce(
        (sum, chunk) => sum + offsets[chunk + 1]! - offsets[chunk]!,
        0,
      )
    const input = new Float32Array(lengthOf(part.input))
    const result = new Float32Array(lengthOf(part.output))
    let made = 0
    const create = (length: number) => {
      made += length
      return new Float32Array(length)
    }
    const dtype = { ...dtypes.f32, create }
    createDataflow({
      part,
      offsets,
      dtype,
      combine() {},
      input,
      result,
      segmentBytes: 65_472,
      onSendable() {},
    })
    return made / count
  })
  return Math.max(...shares)
}

/** At most, in vectors; with ports k, L is ceil(log P) to the base k + 1. */
const stated: Record<string, (size: number, settings: Settings) => number> = {
  'allreduce two-shot': () => 1,
  'allreduce segmented-ring': () => 1,
  'allreduce double-tree': () => 1,
  'allreduce butterfly': (size, { r }) => (r === 0 ? 0 : Math.max(1, Math.ceil(Math.log2(size)) - 1)),
  'allreduce subgroup': (size) => Math.max(1, Math.ceil(Math.log2(size)) - 1),
  'allreduce ports': (size, { r, ports }) =>
    r === 0 ? 1 : Number(ports) * Math.ceil(Math.log(size) / Math.log(Number(ports) + 1) - 1e-9),
  'allreduce one-shot': (size) => size - 2,
  'allreduce bruck': (size) => size - 1,
}
/** A part of what all ranks bring in or get. */
const within: Partial<Record<Algorithm['collective'], number>> = {
  reduceScatter: 1,
  reduce: 1,
  gather: 0.5,
  scatter: 0.5,
  alltoall: 0.5,
}

it('is within what is stated, for every algorithm', () => {
  for (const algorithm of algorithms)
    for (const size of sizes)
      for (const settings of algorithm.variants(size)) {
        if (algorithm.refuses(size, settings) !== undefined) continue
        const name = `${algorithm.collective} ${algorithm.name}`
        const bound = stated[name]?.(size, settings) ?? within[algorithm.collective] ?? 0
        const found = workSpace(algorithm, size, settings)
        const what = `${name} among ${size} ${JSON.stringify(settings)}`
        expect(found, what).toBeLessThanOrEqual(Math.max(0, bound) + 1e-9)
      }
})
