import { describe, expect, it } from 'vitest'
import { amountsOf, busFactor } from '../../../shared/bench/amounts.ts'
import { type BenchRequest, casesOf, completePlan, sizesOf } from '../../../shared/bench/plan.ts'
import { variantsOf } from '../../../shared/bench/variants.ts'
import { collectives } from '../../../shared/schedule/collectives.ts'

describe('sizes', () => {
  const sizes = (request: BenchRequest) => sizesOf(completePlan(request))

  it('grow by a factor or by bytes, and end with the largest that is reached', () => {
    expect(sizes({ minBytes: 8, maxBytes: 128 })).toEqual([8, 32, 128])
    expect(sizes({ minBytes: 8, maxBytes: 127, step: { factor: 2 } })).toEqual([8, 16, 32, 64])
    expect(sizes({ minBytes: 100, maxBytes: 300, step: { bytes: 100 } })).toEqual([100, 200, 300])
    expect(sizes({ minBytes: 425, maxBytes: 425 })).toEqual([425])
  })

  it('always grow, also from nothing and by less than a byte', () => {
    expect(sizes({ minBytes: 0, maxBytes: 3, step: { factor: 1.1 } })).toEqual([0, 1, 2, 3])
  })

  it('are refused when there are none, or thousands', () => {
    expect(() => sizes({ minBytes: 9, maxBytes: 8 })).toThrow('more than the largest')
    expect(() => sizes({ minBytes: 0, maxBytes: 1024, step: { bytes: 1 } })).toThrow('more than 256 sizes')
    expect(() => completePlan({ iterations: 0 })).toThrow('iterations')
    expect(() => completePlan({ dtypes: [] })).toThrow('dtypes')
  })
})

describe('amounts and factors of nccl-tests', () => {
  it('give 7 ranks these factors', () => {
    const factors = collectives.map((collective) => [collective, busFactor(collective, 7)])
    expect(Object.fromEntries(factors)).toEqual({
      allreduce: 12 / 7,
      reduceScatter: 6 / 7,
      allgather: 6 / 7,
      reduce: 1,
      broadcast: 1,
      gather: 6 / 7,
      scatter: 6 / 7,
      alltoall: 6 / 7,
      barrier: 0,
    })
  })

  it('cut a vector of 1000 floats for 7 ranks', () => {
    expect(amountsOf('allreduce', 4000, 4, 7)).toEqual({
      bytes: 4000,
      count: 1000,
      sent: 1000,
      received: 1000,
    })
    const part = { bytes: 142 * 7 * 4, count: 142 }
    expect(amountsOf('allgather', 4000, 4, 7)).toEqual({ ...part, sent: 142, received: 994 })
    expect(amountsOf('reduceScatter', 4000, 4, 7)).toEqual({ ...part, sent: 994, received: 142 })
    expect(amountsOf('alltoall', 4000, 4, 7)).toEqual({ ...part, sent: 994, received: 994 })
  })

  it('have one element for each rank at least', () => {
    expect(amountsOf('allreduce', 1, 8, 3).count).toBe(1)
    expect(amountsOf('allgather', 1, 8, 3)).toEqual({ bytes: 24, count: 1, sent: 1, received: 3 })
  })
})

describe('cases', () => {
  it('go through types, operators, roots and sizes, in this order', () => {
    const plan = completePlan({
      collective: 'reduce',
      minBytes: 8,
      maxBytes: 32,
      dtypes: ['f32', 'i8'],
      ops: ['sum', 'mean', 'bxor'],
      root: 'all',
    })
    const cases = casesOf(plan, 2).map(
      ({ dtype, op, root, amounts }) => `${dtype} ${op} ${root} ${amounts.bytes}`,
    )
    expect(cases).toEqual(
      ['f32 sum', 'f32 mean', 'i8 sum', 'i8 bxor'].flatMap((pair) =>
        [0, 1].flatMap((root) => [8, 32].map((bytes) => `${pair} ${root} ${bytes}`)),
      ),
    )
  })

  it('leave out sizes that are the same after rounding', () => {
    const plan = completePlan({ collective: 'allgather', minBytes: 1, maxBytes: 64 })
    expect(casesOf(plan, 4).map(({ amounts }) => amounts.bytes)).toEqual([16, 64])
  })

  it('are refused for a pair that does not exist and a root that is not there', () => {
    expect(() => casesOf(completePlan({ dtypes: ['f32'], ops: ['bxor'] }), 2)).toThrow('no bxor of f32')
    expect(() => casesOf(completePlan({ collective: 'broadcast', root: 3 }), 3)).toThrow('no rank 3 among 3')
    expect(casesOf(completePlan({ root: 3 }), 3)[0]?.root).toBe(-1)
  })
})

describe('variants', () => {
  const labels = (request: BenchRequest, size = 7) =>
    variantsOf(completePlan(request), size, 'sum').map(({ label }) => label)

  it('are the choice alone unless more is asked for', () => {
    expect(labels({})).toEqual(['auto'])
    expect(labels({ algorithms: ['auto', 'ring', 'ports:ports=3'] })).toEqual([
      'auto',
      'ring',
      'ports ports=3',
    ])
  })

  it('have one row for each r', () => {
    const r = ['butterfly r=0', 'butterfly r=1', 'butterfly r=2', 'butterfly r=3']
    expect(labels({ algorithms: ['butterfly'], stepsRemoved: 'all' })).toEqual(r)
    expect(labels({ algorithms: ['butterfly:r=2,group=cyclic'] })).toEqual(['butterfly group=cyclic r=2'])
    expect(labels({ algorithms: ['butterfly', 'ring'], stepsRemoved: 1 })).toEqual(['butterfly r=1', 'ring'])
  })

  it('are all that so many ranks and the operator admit', () => {
    const all = labels({ algorithms: ['all'] })
    expect(all).toContain('star')
    expect(all).not.toContain('dissemination')
    const ofMax = variantsOf(completePlan({ algorithms: ['all'] }), 7, 'max').map(({ label }) => label)
    expect(ofMax).toContain('dissemination')
  })

  it('stand beside what they are compared with, once', () => {
    const plan = completePlan({ algorithms: ['auto', 'star'], baselines: ['raw', 'star', 'send-to-all'] })
    expect(variantsOf(plan, 7, 'sum').map(({ label, baseline, of }) => [label, baseline, of])).toEqual([
      ['auto', undefined, undefined],
      ['star', 'star', undefined],
      ['one-shot', 'send-to-all', undefined],
      ['raw (auto)', 'raw', 0],
    ])
  })

  it('are refused by name', () => {
    expect(() => labels({ algorithms: ['rign'] })).toThrow(
      'no allreduce algorithm "rign". Use auto, all, or one of',
    )
    expect(() => labels({ algorithms: ['ports:3'] })).toThrow('key=value')
    expect(() => labels({ collective: 'allgather', baselines: ['star'] })).toThrow(
      'no baseline star of allgather',
    )
  })
})
