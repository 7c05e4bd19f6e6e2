import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MismatchError, NonFiniteError, NoSamplesError } from '../../../shared/base/errors.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import { createMemoryGroup } from '../../../shared/collective/memoryGroup.ts'
import { averageTensors } from '../../../shared/federated/average.ts'
import type { NamedTensors, Values } from '../../../shared/federated/tensors.ts'
import { loseOne } from './losing.ts'

const normals = (count: number, seed: number) => {
  const random = createPrng(seed)
  return Float32Array.from({ length: count }, () => random.next() * 2 - 1)
}

const errorsOf = async (promises: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(promises)).map((end) => (end.status === 'rejected' ? end.reason : undefined))

describe('averageTensors', () => {
  it.each([1, 2, 3, 4, 5, 6, 7])('is the mean by samples on %i ranks, with the same bits', async (size) => {
    const groups = await createMemoryGroup(size, { measure: false })
    const samples = groups.map((_, rank) => (rank === 1 ? 0 : 10 + 990 * rank))
    const total = samples.reduce((sum, value) => sum + value, 0)
    const mine = groups.map(
      (_, rank): NamedTensors => ({
        kernel: { data: normals(300, rank), shape: [30, 10] },
        bias: normals(10, 100 + rank),
        wide: Float64Array.from(normals(7, 200 + rank)),
        seen: new Int32Array([rank, -rank]),
        lowest: { data: normals(3, 300 + rank), policy: 'min' },
        all: { data: new Int32Array([rank + 1]), policy: 'sum' },
        steps: { data: new Int32Array([2 * rank]), policy: 'mean' },
        own: { data: new Float32Array([rank]), policy: 'keep' },
      }),
    )
    const before = structuredClone(mine)
    const results = await Promise.all(
      groups.map((group, rank) =>
        averageTensors(mine[rank]!, group, { samples: samples[rank]!, bucketBytes: 256 }),
      ),
    )
    expect(mine).toEqual(before)
    const counted = groups.flatMap((_, rank) => (samples[rank]! > 0 ? [rank] : []))
    const valuesOf = (rank: number, name: string) => {
      const value = mine[rank]![name]!
      return ('data' in value ? value.data : value) as Values
    }
    for (const name of ['kernel', 'bias', 'wide'])
      for (let i = 0; i < valuesOf(0, name).length; i++) {
        const expected =
          counted.reduce((sum, rank) => sum + samples[rank]! * valuesOf(rank, name)[i]!, 0) / total
        expect(Math.abs(results[0]!.tensors[name]![i]! - expected)).toBeLessThan(
          name === 'wide' ? 1e-15 : 5e-7,
        )
      }
    const last = counted[counted.length - 1]!
    expect(results[0]!.tensors.seen).toEqual(new Int32Array([last, 0]))
    expect([...results[0]!.tensors.lowest!]).toEqual(
      [0, 1, 2].map((i) => Math.min(...counted.map((rank) => valuesOf(rank, 'lowest')[i]!))),
    )
    expect(results[0]!.tensors.all![0]).toBe(counted.reduce((sum, rank) => sum + rank + 1, 0))
    const steps = counted.reduce((sum, rank) => sum + samples[rank]! * 2 * rank, 0) / total
    expect(results[0]!.tensors.steps![0]).toBe(Math.round(steps))
    for (const [rank, { tensors, report }] of results.entries()) {
      expect(tensors.own).toEqual(new Float32Array([rank]))
      expect({ ...tensors, own: 0 }).toEqual({ ...results[0]!.tensors, own: 0 })
      expect(report.hash).toBe(results[0]!.report.hash)
      expect(report.contributors.map((row) => row.samples)).toEqual(
        samples.filter((_, i) => i < size).filter((value) => value >= 0),
      )
      expect(report.ops).toEqual(report.ops.map((_, index) => report.ops[0]! + index))
    }
  })

  it('pools variances: as if the data had been in one place', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const data = [[1, 2, 3], [10, 14], [100]]
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
    const variance = (values: readonly number[]) => mean(values.map((value) => (value - mean(values)) ** 2))
    const results = await Promise.all(
      groups.map((group, rank) =>
        averageTensors(
          {
            'bn/mean': new Float64Array([mean(data[rank]!)]),
            'bn/variance': {
              data: new Float64Array([variance(data[rank]!)]),
              policy: { varianceOf: 'bn/mean' },
            },
          },
          group,
          { samples: data[rank]!.length },
        ),
      ),
    )
    for (const { tensors } of results) {
      expect(tensors['bn/mean']![0]).toBeCloseTo(mean(data.flat()), 10)
      expect(tensors['bn/variance']![0]).toBeCloseTo(variance(data.flat()), 8)
    }
  })

  it('of equal replicas with equal weights changes no bit at P = 2^k, and only the last elsewhere', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 7 }), fc.integer(), async (size, seed) => {
        const groups = await createMemoryGroup(size, { measure: false })
        const data = normals(20, seed)
        const [first] = await Promise.all(
          groups.map((group) => averageTensors({ data }, group, { samples: 32 })),
        )
        if ((size & (size - 1)) === 0) expect(first!.tensors.data).toEqual(data)
        else
          for (const [i, value] of first!.tensors.data!.entries()) expect(value / data[i]!).toBeCloseTo(1, 6)
      }),
      { numRuns: 4 },
    ))

  it.each([
    ['bf16', 2, 2 ** -7],
    ['f16', 2, 2 ** -9],
    ['q8', 1.03125, 2 ** -5],
  ] as const)('sends %s in as many bytes as it has, within its bound', async (wire, bytes, bound) => {
    const groups = await createMemoryGroup(4, { measure: false })
    const data = groups.map((_, rank) => normals(4096, rank))
    const results = await Promise.all(
      groups.map((group, rank) => averageTensors({ data: data[rank]! }, group, { wire, algorithm: 'ring' })),
    )
    for (const { tensors, report } of results) {
      expect(tensors).toEqual(results[0]!.tensors)
      expect(report.bytesSent / (1.5 * 4096)).toBeCloseTo(bytes, 1)
      for (let i = 0; i < 4096; i++) {
        const mean = data.reduce((sum, own) => sum + own[i]! / 4, 0)
        expect(Math.abs(tensors.data![i]! - mean)).toBeLessThan(bound)
      }
    }
  })

  it('lists what differs, and on which rank, before any data moves', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const tensors: NamedTensors[] = [
      { kernel: { data: new Float32Array(6), shape: [2, 3] }, bias: new Float32Array(3) },
      { kernel: { data: new Float32Array(6), shape: [3, 2] }, bias: new Float32Array(3) },
      { kernel: { data: new Float32Array(6), shape: [2, 3] }, scale: new Float64Array(3) },
    ]
    const errors = await errorsOf(groups.map((group, rank) => averageTensors(tensors[rank]!, group)))
    for (const error of errors) {
      expect(error).toBeInstanceOf(MismatchError)
      expect((error as MismatchError).message).toBe((errors[0] as MismatchError).message)
    }
    const { message, byRank } = errors[0] as MismatchError
    expect(message).toContain('Rank 1 (rank 1): "kernel" is f32 3x2 mean, not f32 2x3 mean')
    expect(message).toContain('Rank 2 (rank 2): "bias" is missing (f32 3 mean)')
    expect(message).toContain('"scale" is extra (f64 3 mean)')
    expect(byRank[0]).toBe('as most')
  })

  it('has nothing to average when all have 0 samples, on all ranks alike', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const data = new Float32Array([1])
    const errors = await errorsOf(groups.map((group) => averageTensors({ data }, group, { samples: 0 })))
    for (const error of errors) expect(error).toBeInstanceOf(NoSamplesError)
    const after = await Promise.all(groups.map((group) => averageTensors({ data }, group)))
    expect(after.map(({ tensors }) => tensors.data![0])).toEqual([1, 1, 1])
  })

  it('names ranks with NaN, or drops them, or takes them as they are', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const data = [1, Number.NaN, 5].map((value) => new Float32Array([value, 2]))
    const run = (nonFinite: 'error' | 'drop-rank' | 'allow') =>
      groups.map((group, rank) => averageTensors({ data: data[rank]! }, group, { nonFinite }))
    for (const error of await errorsOf(run('error'))) {
      expect(error).toBeInstanceOf(NonFiniteError)
      expect((error as NonFiniteError).message).toContain('Rank 1 (rank 1)')
    }
    for (const { tensors, report } of await Promise.all(run('drop-rank'))) {
      expect(tensors.data).toEqual(new Float32Array([3, 2]))
      expect(report.dropped.map(({ rank }) => rank)).toEqual([1])
      expect(report.contributors.map(({ peer, share }) => [peer.rank, share])).toEqual([
        [0, 0.5],
        [2, 0.5],
      ])
    }
    for (const { tensors } of await Promise.all(run('allow')))
      expect(tensors.data).toEqual(new Float32Array([Number.NaN, 2]))
  })

  it.each(Array.from({ length: 6 }, (_, seed) => seed))(
    'survivors hold the same bits and list when a member is lost at any moment (seed %i)',
    async (seed) => {
      const { groups, outcome } = await loseOne(seed, 160)
      const values = [1, 20, 300, 4000, 50000]
      const results = await outcome(
        groups.map((group, rank) =>
          averageTensors({ data: new Float32Array(400).fill(values[rank]!) }, group, {
            bucketBytes: 400,
            samples: rank + 1,
          }),
        ),
      )
      const { report, tensors } = results[0]!
      const weights = report.contributors.map(({ samples }) => samples)
      const expected =
        weights.reduce((sum, weight) => sum + weight * values[weight - 1]!, 0) /
        weights.reduce((a, b) => a + b)
      expect(tensors.data![0]! / expected).toBeCloseTo(1, 6)
      for (const other of results) {
        expect(other.tensors).toEqual(tensors)
        expect(other.report.contributors).toEqual(report.contributors)
        expect(new Set(other.tensors.data).size).toBe(1)
      }
    },
  )
})
