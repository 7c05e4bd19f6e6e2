/** NaN, infinities and weights that cannot be: what all ranks get, against a plain loop. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import {
  ArgumentError,
  MismatchError,
  NonFiniteError,
  NoSamplesError,
  UnsupportedError,
} from '../../../shared/base/errors.ts'
import { createMemoryGroup, createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import type { AllreduceOptions, Group, NonFinitePolicy } from '../../../shared/collective/types.ts'
import { createFeedback } from '../../../shared/wire/feedback.ts'
import { f16 } from '../../../shared/wire/half.ts'
import type { OperatorName } from '../../../shared/wire/operator.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

const bads = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

const errorsOf = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((end) =>
    end.status === 'rejected' ? (end.reason as unknown) : end.value,
  )

const folds: Record<string, (values: readonly number[]) => number> = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  mean: (values) => values.reduce((a, b) => a + b, 0) / values.length,
  prod: (values) => values.reduce((a, b) => a * b, 1),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
}

describe('a fold of bad data', () => {
  it('is an error on all ranks, or the fold of the others, for every operator and collective', async () => {
    const sizes = [1, 2, 3, 5, 9]
    const groupsOf = new Map(
      await Promise.all(
        sizes.map(async (size) => [size, await createMemoryGroup(size, { measure: false })] as const),
      ),
    )
    const property = fc.asyncProperty(
      fc.constantFrom(...sizes).chain((size) =>
        fc.record({
          size: fc.constant(size),
          // How many values of each rank are no finite numbers.
          bad: fc.array(fc.constantFrom(0, 0, 1, 3), { minLength: size, maxLength: size }),
          root: fc.nat(size - 1),
        }),
      ),
      fc.constantFrom('allreduce', 'reduce', 'reduceScatter'),
      fc.constantFrom<OperatorName>('sum', 'mean', 'prod', 'min', 'max'),
      fc.constantFrom<NonFinitePolicy>('error', 'drop-rank'),
      fc.constantFrom('f64', 'f16'),
      async ({ size, bad, root }, collective, op, nonFinite, type) => {
        const groups = groupsOf.get(size)!
        const count = size + 3
        const values = bad.map((number, rank) =>
          Array.from({ length: count }, (_, i) =>
            i < number ? bads[(i + rank) % 3]! : 1 + ((rank + i) % 2),
          ),
        )
        const data = values.map((row) =>
          type === 'f64' ? Float64Array.from(row) : Uint16Array.from(row, f16.toWord),
        )
        const before = data.map((row) => row.slice())
        const dtype = type === 'f16' ? { dtype: 'f16' as const } : {}
        const ends = await errorsOf(
          groups.map((group, rank) => {
            const options = { op, nonFinite, ...dtype }
            if (collective === 'reduce') return group.reduce(data[rank]!, { ...options, root })
            return group[collective as 'allreduce'](data[rank]!, options)
          }),
        )
        expect(data).toEqual(before)
        const badRanks = bad.flatMap((number, rank) => (number > 0 ? [rank] : []))
        if (badRanks.length === size || (badRanks.length > 0 && nonFinite === 'error')) {
          for (const error of ends) {
            expect(error).toBeInstanceOf(NonFiniteError)
            const { peers, byRank, message } = error as NonFiniteError
            expect(peers.map(({ rank }) => rank)).toEqual(badRanks)
            expect(byRank).toEqual(Object.fromEntries(badRanks.map((rank) => [rank, bad[rank]])))
            expect(message).toContain(`Rank ${badRanks[0]} (rank ${badRanks[0]}): ${bad[badRanks[0]!]}`)
          }
          return
        }
        const good = values.filter((_, rank) => bad[rank] === 0)
        const whole = Array.from({ length: count }, (_, i) => folds[op]!(good.map((row) => row[i]!)))
        const start = (rank: number) => Math.floor((rank * count) / size)
        for (const [rank, end] of ends.entries()) {
          const { data: got, report } = end as Awaited<ReturnType<Group['reduce']>>
          expect(report.contributors.map(({ name }) => name)).toEqual(
            good.map((row) => `Rank ${values.indexOf(row)}`),
          )
          expect(report.dropped?.map(({ name }) => name) ?? []).toEqual(badRanks.map((one) => `Rank ${one}`))
          if (collective === 'reduce' && rank !== root) {
            expect(got).toBeUndefined()
            continue
          }
          const expected = collective === 'reduceScatter' ? whole.slice(start(rank), start(rank + 1)) : whole
          const numbers = [...(got as Float64Array)].map((word) =>
            type === 'f16' ? f16.toNumber(word) : word,
          )
          for (const [i, number] of numbers.entries())
            expect(number).toBeCloseTo(expected[i]!, type === 'f64' ? 12 : 1)
          expect(numbers).toHaveLength(expected.length)
        }
      },
    )
    await fc.assert(property, { numRuns: 60 })
  })

  it('leaves `into` and the feedback as they were, and later calls right', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const handles = groups.map(() => createFeedback())
    const call = (value: number, into?: Float32Array[]) =>
      groups.map((group, rank) =>
        group.allreduce(Float32Array.of(rank === 1 ? value : 0.1, 1), {
          nonFinite: 'error',
          wire: 'q8',
          feedback: handles[rank]!,
          ...(into && { into: into[rank]! }),
        }),
      )
    await Promise.all(call(0.1))
    const held = handles.map(({ error }) => error?.slice())
    const into = groups.map(() => Float32Array.of(7, 7))
    for (const error of await errorsOf(call(Number.NaN, into))) expect(error).toBeInstanceOf(NonFiniteError)
    expect(into).toEqual(groups.map(() => Float32Array.of(7, 7)))
    expect(handles.map(({ error }) => error?.slice())).toEqual(held)
    for (const { data } of await Promise.all(call(0.1, into))) expect(data[0]).toBeCloseTo(0.3, 1)
  })

  it('has the weights of the others', async () => {
    const groups = await createMemoryGroup(4, { measure: false })
    const results = await Promise.all(
      groups.map((group, rank) =>
        group.allreduce(Float64Array.of(rank === 2 ? Number.NaN : rank), {
          weight: [1, 2, 4, 8][rank]!,
          nonFinite: 'drop-rank',
        }),
      ),
    )
    for (const { data, report } of results) {
      expect(data[0]).toBe((1 * 2 + 3 * 8) / 11)
      expect(report.dropped?.map(({ name }) => name)).toEqual(['Rank 2'])
    }
  })

  it('does not look at data of weight 0, or at integers, and costs integers nothing', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const mean = await Promise.all(
      groups.map((group, rank) =>
        group.allreduce(Float32Array.of(rank === 0 ? Number.NaN : 3), { weight: rank, nonFinite: 'error' }),
      ),
    )
    expect(mean.map(({ data }) => data[0])).toEqual([3, 3])
    const sent = async (options: AllreduceOptions<Int32Array>) =>
      (await Promise.all(groups.map((group) => group.allreduce(Int32Array.of(1), options))))[0]!.report
        .bytesSent
    expect(await sent({ nonFinite: 'error' })).toBe(await sent({}))
  })

  it('leaves ranks out of folds that have an identity', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const call = (identity?: readonly number[]) =>
      groups.map((group, rank) =>
        group.allreduce(Float64Array.of(rank + 1, rank === 1 ? Number.POSITIVE_INFINITY : 1), {
          nonFinite: 'drop-rank',
          op: {
            name: 'sum and product',
            record: 2,
            ...(identity && { identity }),
            combineInto(into, from) {
              for (let i = 0; i < into.length; i += 2) {
                into[i]! += from[i]!
                into[i + 1]! *= from[i + 1]!
              }
            },
          },
        }),
      )
    for (const { data } of await Promise.all(call([0, 1]))) expect([...data]).toEqual([4, 1])
    for (const error of await errorsOf(call())) expect(error).toBeInstanceOf(UnsupportedError)
  })

  it('is a mismatch where the ranks want different things of it', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const errors = await errorsOf(
      groups.map((group, rank) =>
        group.allreduce(Float32Array.of(1), { nonFinite: rank === 1 ? 'error' : 'drop-rank' }),
      ),
    )
    for (const error of errors) {
      expect(error).toBeInstanceOf(MismatchError)
      expect(error).toMatchObject({ field: 'nonFinite', byRank: { 0: 'drop-rank', 1: 'error' } })
    }
    const wrong = 'ignore' as NonFinitePolicy
    await expect(groups[0]!.allreduce(Float32Array.of(1), { nonFinite: wrong })).rejects.toMatchObject({
      argument: 'nonFinite',
    })
  })

  it('has one outcome on all survivors whenever a member is lost, also where they pass a result on', async () => {
    const algorithms = new Set<string>()
    for (let at = 0; at < 15; at++) {
      const clock = new VirtualClock()
      const room = createMemoryRoom({ clock, measure: false, latency: 0.005, jitter: 0.004, seed: at })
      const groups = Array.from({ length: 6 }, (_, rank) => room.join(`Rank ${rank}`))
      await inVirtualTime(clock, whenTogether(groups))
      // Of the bad rank, of another, and of the bad one where that is an error.
      const [nonFinite, lost] = (
        [
          ['drop-rank', 2],
          ['drop-rank', 5],
          ['error', 4],
        ] as const
      )[at % 3]!
      const calls = groups.map((group, rank) =>
        group.allreduce(Float64Array.of(rank === 2 ? Number.NaN : 2 ** rank), {
          nonFinite,
          algorithm: 'ring',
        }),
      )
      clock.after(0.004 * at, () => void groups[lost]!.leave())
      const ends = await inVirtualTime(clock, errorsOf(calls))
      const texts = ends.flatMap((end, rank) => {
        if (rank === lost) return []
        if (end instanceof NonFiniteError) return [`${end.peers.map(({ name }) => name)}`]
        const { data, report } = end as Awaited<ReturnType<Group['allreduce']>>
        algorithms.add(report.algorithm)
        const names = report.contributors.map(({ name }) => name)
        expect(nonFinite).toBe('drop-rank')
        expect(names).not.toContain('Rank 2')
        expect(data[0]).toBe(names.reduce((sum, name) => sum + 2 ** Number(name.slice(5)), 0))
        return [`${names} without ${report.dropped?.map(({ name }) => name)}`]
      })
      expect(new Set(texts).size, `${nonFinite} ${at}: ${texts.join(' | ')}`).toBe(1)
    }
    expect(algorithms).toEqual(new Set(['ring', 'adopt']))
  })
})

describe('weights', () => {
  it('that cannot be end the call on all ranks, and the next call is right', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    for (const weight of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const into = groups.map(() => Float32Array.of(7))
      const errors = await errorsOf(
        groups.map((group, rank) =>
          group.allreduce(Float32Array.of(rank), { weight: rank === 1 ? weight : 1, into: into[rank]! }),
        ),
      )
      for (const error of errors) expect(error).toBeInstanceOf(ArgumentError)
      expect(errors[0]).toMatchObject({
        argument: 'weight',
        message: expect.stringContaining('Rank 1 (rank 1)'),
      })
      expect(into.map(([value]) => value)).toEqual([7, 7, 7])
    }
    const results = await Promise.all(groups.map((group) => group.allreduce(Int32Array.of(1))))
    expect(results.map(({ data }) => data[0])).toEqual([3, 3, 3])
  })

  it('that are all 0 are an error on all ranks; nothing is written', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const into = groups.map(() => Float32Array.of(7))
    const errors = await errorsOf(
      groups.map((group, rank) => group.allreduce(Float32Array.of(1), { weight: 0, into: into[rank]! })),
    )
    for (const error of errors) expect(error).toBeInstanceOf(NoSamplesError)
    expect(into.map(([value]) => value)).toEqual([7, 7, 7])
  })
})
