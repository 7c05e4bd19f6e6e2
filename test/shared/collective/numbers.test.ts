/** Every element type, operator and wire through whole groups, against plain loops. */
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import {
  AbortedError,
  ArgumentError,
  MismatchError,
  NoSamplesError,
  UnsupportedError,
} from '../../../shared/base/errors.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import { createMemoryGroup } from '../../../shared/collective/memoryGroup.ts'
import type { AllreduceOptions, Group } from '../../../shared/collective/types.ts'
import { type DType, dtypes, type NumericArray } from '../../../shared/wire/dtype.ts'
import { createFeedback } from '../../../shared/wire/feedback.ts'
import type { Fold } from '../../../shared/wire/fold.ts'
import { admitted } from '../../../shared/wire/operator.ts'
import { allDtypes, integerFold, randomVector, valueAt, vectorOf } from '../../support/numbers.ts'
import { meetVanishing } from '../../support/vanishing.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

const all = <T extends NumericArray>(
  groups: readonly Group[],
  inputs: readonly T[],
  options: (rank: number) => AllreduceOptions<T>,
) => Promise.all(groups.map((group, rank) => group.allreduce(inputs[rank]!, options(rank))))

const errorsOf = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((call) => (call.status === 'rejected' ? call.reason : undefined))

/** Values in unlimited precision for integers, in float64 for floats. */
function checkFold(
  dtype: DType,
  op: (typeof admitted)[DType][number],
  inputs: readonly NumericArray[],
  result: NumericArray,
) {
  if (!dtypes[dtype].isFloat) {
    expect(result).toEqual(integerFold(dtype, op, inputs))
    return
  }
  // Unit roundoff of the type: each of at most P - 1 combines and a division rounds once.
  const unit = { f16: 2 ** -11, bf16: 2 ** -8, f32: 2 ** -24, f64: 2 ** -53 }[dtype as 'f64']
  for (let i = 0; i < result.length; i++) {
    const values = inputs.map((input) => Number(valueAt(dtype, input, i)))
    const got = Number(valueAt(dtype, result, i))
    if (op === 'min' || op === 'max') {
      expect(got).toBe(Math[op](...values))
      continue
    }
    const size = values.reduce((sum, x) => sum + Math.abs(x), 0)
    const product = values.reduce((a, b) => a * b, 1)
    const want =
      op === 'prod' ? product : values.reduce((a, b) => a + b, 0) / (op === 'mean' ? values.length : 1)
    const scale = op === 'prod' ? Math.abs(product) : size / (op === 'mean' ? values.length : 1)
    const smallest = dtype === 'f16' ? 2 ** -24 : 0
    expect(Math.abs(got - want)).toBeLessThanOrEqual(values.length * (1.01 * unit * scale + smallest))
  }
}

describe.each([1, 3, 4, 7])('a group of %i', (size) => {
  it('folds every type with every operator that it admits', async () => {
    const groups = await createMemoryGroup(size, { measure: false })
    const prng = createPrng(size)
    const algorithms = ['ring', 'two-shot', 'one-shot', 'recursive-doubling', 'binomial']
    let turn = 0
    for (const dtype of allDtypes)
      for (const op of admitted[dtype])
        for (const count of [0, 1, 4 * size + 3]) {
          const algorithm = algorithms[turn++ % algorithms.length]!
          const inputs = groups.map(() => randomVector(dtype, count, prng))
          const before = inputs.map((input) => input.slice())
          const results = await all(groups, inputs, () => ({ op, dtype, algorithm }))
          for (const { data } of results) {
            checkFold(dtype, op, inputs, data)
            expect(data).toEqual(results[0]!.data)
          }
          expect(inputs).toEqual(before)
        }
  })

  it('weighs means by the share of each rank', async () => {
    const groups = await createMemoryGroup(size, { measure: false })
    for (const make of [Float32Array, Float64Array]) {
      const inputs = groups.map((_, rank) => make.of(rank, -rank, 1))
      const into = make.of(0, 0, 0)
      const results = await all<Float32Array | Float64Array>(groups, inputs, (rank) => ({
        op: 'mean',
        weight: 1 + rank,
        ...(rank === 0 && { into }),
      }))
      const total = (size * (size + 1)) / 2
      const mean = inputs.reduce((sum, _, rank) => sum + rank * (1 + rank), 0) / total
      for (const { data } of results) expect(data).toEqual(make.of(mean, -mean, 1))
      expect(results[0]!.data).toBe(into)
    }
  })

  it('takes nothing from ranks of weight 0, and refuses no weight at all', async () => {
    const groups = await createMemoryGroup(size, { measure: false })
    const mean = async (weightOf: (rank: number) => number) => {
      const inputs = groups.map((_, rank) => Float32Array.of(rank === 0 ? 5 : Number.NaN))
      return (await all(groups, inputs, (rank) => ({ weight: weightOf(rank) })))[0]!.data[0]
    }
    expect(await mean((rank) => (rank === 0 ? 3 : 0))).toBe(5)
    await expect(mean(() => 0)).rejects.toBeInstanceOf(NoSamplesError)
  })

  it('sends floats in fewer bytes, and ends with the same bits on every rank', async () => {
    const groups = await createMemoryGroup(size, { measure: false })
    const prng = createPrng(size)
    for (const [wire, unit, share] of [
      ['f16', 2 ** -11, 1 / 2],
      ['bf16', 2 ** -8, 1 / 2],
      ['q8', 1 / 253, 66 / 256],
    ] as const)
      for (const make of [Float32Array, Float64Array])
        for (const count of [0, 1, 63, 64 * size, 1000]) {
          const inputs = groups.map(() => new make(count).map(() => prng.next() * 2 - 1))
          const results = await all<Float32Array | Float64Array>(groups, inputs, () => ({
            wire,
            algorithm: 'two-shot',
          }))
          const bound = 3 * size * unit
          for (const { data, report } of results) {
            expect(data.length).toBe(count)
            expect(data.constructor).toBe(make)
            expect(data).toEqual(results[0]!.data)
            expect(report.identical).toBe(true)
            for (let i = 0; i < count; i++)
              expect(Math.abs(data[i]! - inputs.reduce((sum, input) => sum + input[i]!, 0))).toBeLessThan(
                bound,
              )
            // 2 (P - 1) / P of the vector, in whole blocks.
            const scale = make === Float32Array ? share : share / 2
            const bytes = ((2 * (size - 1)) / size) * count * make.BYTES_PER_ELEMENT * scale
            expect(Math.abs(report.bytesSent - bytes)).toBeLessThanOrEqual(2 * size * 66)
          }
        }
  })
})

it('ends sooner on a slow link, by as much as fewer bytes take', async () => {
  const seconds = async (wire?: 'f16' | 'q8') => {
    const clock = new VirtualClock()
    const options = { clock, latency: 0.005, bandwidth: 2.5e6, measure: false }
    const groups = await inVirtualTime(clock, createMemoryGroup(4, options))
    const results = await inVirtualTime(
      clock,
      Promise.all(
        groups.map((group) =>
          group.allreduce(new Float32Array(1 << 18).fill(1), {
            algorithm: 'two-shot',
            ...(wire && { wire }),
          }),
        ),
      ),
    )
    return Math.max(...results.map(({ report }) => report.seconds))
  }
  const asTheyAre = await seconds()
  expect(asTheyAre / (await seconds('f16'))).toBeGreaterThan(1.9)
  expect(asTheyAre / (await seconds('q8'))).toBeGreaterThan(3.2)
})

it('predicts what a call costs in the bytes that travel', async () => {
  const [group] = await createMemoryGroup(7, { measure: false })
  const sent = (wire?: 'f16' | 'q8') =>
    group!.predict({ count: 7 * 64 * 100, algorithm: 'two-shot', ...(wire && { wire }) }).chosen.bytesSent
  expect(sent('f16') / sent()).toBeCloseTo(1 / 2)
  expect(sent('q8') / sent()).toBeCloseTo(66 / 256)
})

describe('error feedback', () => {
  it('keeps the mean of many lossy calls near the exact one, with the algorithm that the group chooses', async () => {
    const groups = await createMemoryGroup(4, { measure: false })
    const prng = createPrng(5)
    const inputs = groups.map(() => Float32Array.from({ length: 300 }, () => prng.next() - 0.5))
    const exact = Float64Array.from(inputs[0]!, (_, i) => inputs.reduce((sum, input) => sum + input[i]!, 0))
    const meanError = async (feedback: boolean) => {
      const handles = groups.map(() => createFeedback())
      const total = new Float64Array(exact.length)
      const calls = 24
      for (let call = 0; call < calls; call++) {
        const results = await all(groups, inputs, (rank) => ({
          wire: 'q8',
          ...(feedback && { feedback: handles[rank]! }),
        }))
        results[0]!.data.forEach((x, i) => {
          total[i]! += x / calls
        })
      }
      return total.reduce((worst, x, i) => Math.max(worst, Math.abs(x - exact[i]!)), 0)
    }
    const [without, withFeedback] = [await meanError(false), await meanError(true)]
    expect(without).toBeGreaterThan(0.005)
    expect(withFeedback).toBeLessThan(without / 10)
  })

  it('is refused for vectors that the handle does not belong to, twice at a time, and without a lossy wire', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const handles = groups.map(() => createFeedback())
    const call = (rank: number, length: number, wire: 'q8' | 'f32' = 'q8') =>
      groups[rank]!.allreduce(new Float32Array(length).fill(1), { wire, feedback: handles[rank]! })
    const first = [call(0, 64), call(1, 64)]
    await expect(call(0, 64)).rejects.toThrow(/in use/)
    await Promise.all(first)
    await expect(call(0, 128)).rejects.toThrow(/64 elements/)
    await expect(call(0, 64, 'f32')).rejects.toThrow(ArgumentError)
    handles[0]!.reset()
    handles[1]!.reset()
    await Promise.all([call(0, 128), call(1, 128)])
  })

  it('is as it was after a call that failed', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const handles = groups.map(() => createFeedback())
    const data = new Float32Array(64).fill(0.3)
    const call = (rank: number, name: string) =>
      groups[rank]!.allreduce(data, { wire: 'q8', feedback: handles[rank]!, name })
    await Promise.all([call(0, 'a'), call(1, 'a')])
    const before = handles.map(({ error }) => error!.slice())
    expect(await errorsOf([call(0, 'b'), call(1, 'c')])).toEqual([
      expect.any(MismatchError),
      expect.any(MismatchError),
    ])
    expect(handles.map(({ error }) => error)).toEqual(before)
    await Promise.all([call(0, 'd'), call(1, 'd')])
  })
})

describe('a member that is lost at any message', () => {
  const names = ['Ada', 'Bo', 'Cem', 'Dee']
  /** The survivors' results of `call`, in which Cem vanishes at message `fatal`. */
  const survive = async (
    fatal: number,
    call: (group: Group, rank: number) => ReturnType<Group['allreduce']>,
  ) => {
    const { groups, arm } = await meetVanishing(names, fatal)
    arm()
    const calls = groups.map(call)
    calls[2]!.catch(() => {})
    return Promise.all(calls.filter((_, rank) => rank !== 2))
  }

  it('takes its weight along', async () => {
    for (let fatal = 1; fatal < 30; fatal += 2) {
      const results = await survive(fatal, (group, rank) =>
        group.allreduce(Float64Array.of(rank, 1), { weight: 10 ** rank, algorithm: 'ring' }),
      )
      const ranks = results[0]!.report.contributors.map(({ name }) => names.indexOf(name))
      const total = ranks.reduce((sum, rank) => sum + 10 ** rank, 0)
      const mean = ranks.reduce((sum, rank) => sum + rank * 10 ** rank, 0) / total
      for (const { data } of results) expect(data).toEqual(Float64Array.of(mean, 1))
    }
  })

  it('leaves the same bits on the survivors of a lossy call, and what they note adds up', async () => {
    let checked = 0
    for (let fatal = 1; fatal < 40; fatal += 2) {
      const handles = names.map(() => createFeedback())
      const inputs = names.map((_, rank) => Float32Array.from({ length: 100 }, (_, i) => Math.sin(i + rank)))
      const results = await survive(fatal, (group, rank) =>
        group.allreduce(inputs[rank]!, { wire: 'q8', feedback: handles[rank]!, algorithm: 'ring' }),
      )
      const [{ data, report }] = results as [(typeof results)[0]]
      for (const other of results) expect(other.data).toEqual(data)
      const ranks = report.contributors.map(({ name }) => names.indexOf(name))
      // What Cem has noted is known only to Cem, and what an adopted result has cost only to who finished it.
      if (ranks.length === 4 || results.some((result) => result.report.algorithm !== 'ring')) continue
      checked++
      for (let i = 0; i < data.length; i++) {
        const held = ranks.reduce((sum, rank) => sum + handles[rank]!.error![i]!, 0)
        const exact = ranks.reduce((sum, rank) => sum + inputs[rank]![i]!, 0)
        expect(Math.abs(Number(data[i]) + held - exact)).toBeLessThan(1e-5)
      }
    }
    expect(checked).toBeGreaterThan(2)
  })
})

describe('folds of the caller', () => {
  /** x -> a x + b modulo 2^16, packed in one element; composition does not commute. */
  const compose: Fold<Uint32Array> = {
    name: 'affine',
    identity: 1 << 16,
    combine(left, right) {
      const [a, b] = [left >>> 16, left & 0xffff]
      const [c, d] = [right >>> 16, right & 0xffff]
      return ((Math.imul(a, c) << 16) | ((Math.imul(c, b) + d) & 0xffff)) >>> 0
    },
  }

  it.each([1, 2, 3, 5, 8])(
    'of %i ranks are combined in rank order when they do not commute',
    async (size) => {
      const groups = await createMemoryGroup(size, { measure: false })
      const prng = createPrng(size)
      const inputs = groups.map(() => randomVector('u32', 50, prng) as Uint32Array)
      const expected = Uint32Array.from(inputs[0]!, (_, i) =>
        inputs.map((input) => input[i]!).reduce((a, b) => compose.combine(a, b)),
      )
      const intoForm: Fold<Uint32Array> = {
        name: 'affine, by segment',
        combineInto(into, from) {
          for (let i = 0; i < into.length; i++) into[i] = compose.combine(into[i]!, from[i]!)
        },
      }
      for (const op of [compose, intoForm]) {
        const results = await all(groups, inputs, () => ({ op }))
        for (const { data } of results) expect(data).toEqual(expected)
      }
    },
  )

  it.each([1, 3, 4, 7])('combine records of %i ranks that are never parted', async (size) => {
    const product: Fold<Int32Array> = {
      name: 'product of 3 x 3 matrices',
      record: 9,
      identity: [1, 0, 0, 0, 1, 0, 0, 0, 1],
      combineInto(into, from) {
        for (let at = 0; at < into.length; at += 9)
          into.set(multiply(into.slice(at, at + 9), from.subarray(at, at + 9)), at)
      },
    }
    const multiply = (a: Int32Array, b: Int32Array) =>
      Int32Array.from({ length: 9 }, (_, i) => {
        const [row, column] = [3 * Math.floor(i / 3), i % 3]
        return [0, 1, 2].reduce((sum, k) => sum + Math.imul(a[row + k]!, b[3 * k + column]!), 0)
      })
    const groups = await createMemoryGroup(size, { measure: false })
    const prng = createPrng(size)
    for (const [records, algorithm] of [
      [0, 'auto'],
      [1, 'auto'],
      [5, 'two-shot'],
      // More than one segment, which 36 does not divide.
      [4000, 'two-shot'],
      [2000, 'one-shot'],
    ] as const) {
      const inputs = groups.map(() => Int32Array.from({ length: 9 * records }, () => prng.below(7) - 3))
      const results = await all(groups, inputs, () => ({ op: product, algorithm }))
      const expected = inputs[0]!.slice()
      for (const input of inputs.slice(1)) product.combineInto(expected, input)
      for (const { data } of results) expect(data).toEqual(expected)
    }
    await expect(groups[0]!.allreduce(new Int32Array(10), { op: product })).rejects.toThrow(
      /whole records of 9/,
    )
    const wrong = { ...product, identity: 1 }
    await expect(
      groups[0]!.allreduce(
        Int32Array.from({ length: 9 }, (_, i) => i),
        { op: wrong },
      ),
    ).rejects.toThrow(/identity/)
    await expect(groups[0]!.allreduce(new Int32Array(9), { op: { ...product, record: 0 } })).rejects.toThrow(
      /at least 1/,
    )
  })

  it('refuse algorithms that change the order, and take them when they commute', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const inputs = groups.map((_, rank) => Float64Array.of(rank))
    const sum = { name: 'sum', combine: (a: number, b: number) => a + b }
    const errors = await errorsOf(
      groups.map((group, rank) => group.allreduce(inputs[rank]!, { op: sum, algorithm: 'ring' })),
    )
    for (const error of errors) expect(error).toBeInstanceOf(ArgumentError)
    const results = await all(groups, inputs, () => ({
      op: { ...sum, commutative: true },
      algorithm: 'ring',
    }))
    for (const { data } of results) expect(data).toEqual(Float64Array.of(3))
  })

  it('see bigints of 64-bit integers and numbers of half floats', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const larger = { combine: (a: bigint, b: bigint) => (a > b ? a : b), identity: -(2n ** 63n) }
    const bigs = await all(
      groups,
      groups.map((_, rank) => BigInt64Array.of(BigInt(rank) - 5n)),
      () => ({ op: larger }),
    )
    for (const { data } of bigs) expect(data).toEqual(BigInt64Array.of(-3n))
    const halves = await all(
      groups,
      groups.map((_, rank) => vectorOf('bf16', [1.5 + rank]) as Uint16Array),
      () => ({ op: { combine: (a: number, b: number) => a + b }, dtype: 'bf16' }),
    )
    for (const { data } of halves) expect(data).toEqual(vectorOf('bf16', [7.5]))
  })

  it('end the op on all ranks when they throw', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const boom: Fold<Int32Array> = {
      commutative: true,
      combine() {
        throw new RangeError('boom')
      },
    }
    for (const algorithm of ['one-shot', 'two-shot', 'ring']) {
      const options = { op: algorithm === 'one-shot' ? { ...boom, commutative: false } : boom, algorithm }
      const errors = await errorsOf(
        groups.map((group) => group.allreduce(Int32Array.of(1, 2, 3, 4), options)),
      )
      for (const error of errors) expect(error).toBeInstanceOf(AbortedError)
      expect(errors.some((error) => error instanceof Error && error.message.includes('boom'))).toBe(true)
    }
    const results = await Promise.all(groups.map((group) => group.allreduce(Int32Array.of(1))))
    for (const { data } of results) expect(data[0]).toBe(3)
  })

  it('with a wrong identity are refused before anything is sent', async () => {
    const [group] = await createMemoryGroup(1, { measure: false })
    const op = { identity: 1, combine: (a: number, b: number) => a + b }
    await expect(group!.allreduce(Float32Array.of(5), { op })).rejects.toThrow(/identity 1 and x 5 it is 6/)
  })
})

describe('calls that cannot meet or work', () => {
  it('differ in dtype, wire, operator or fold: the same MismatchError on all ranks', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const data = new Uint16Array(64)
    const floats = new Float32Array(64)
    const f = { combine: (a: number, b: number) => a + b }
    const cases: [string, Promise<unknown>[]][] = []
    const meet = async (field: string, left: Promise<unknown>, right: Promise<unknown>) => {
      cases.push([field, [left, right]])
      for (const error of await errorsOf([left, right]))
        expect(error).toMatchObject({ code: 'MISMATCH', field })
    }
    const [a, b] = groups as [Group, Group]
    await meet('dtype', a.allreduce(data), b.allreduce(data, { dtype: 'f16' }))
    await meet('wire', a.allreduce(floats, { wire: 'f16' }), b.allreduce(floats))
    await meet('operator', a.allreduce(floats, { op: 'prod' }), b.allreduce(floats))
    await meet('operator', a.allreduce(floats, { weight: 1 }), b.allreduce(floats, { op: 'mean' }))
    await meet(
      'operator',
      a.allreduce(floats, { op: { ...f, name: 'f' } }),
      b.allreduce(floats, { op: { ...f, name: 'g' } }),
    )
    await meet('count', a.allreduce(floats, { wire: 'q8' }), b.allreduce(floats.subarray(1), { wire: 'q8' }))
    expect(cases.length).toBe(6)
  })

  it('are refused with advice', async () => {
    const [group] = await createMemoryGroup(1, { measure: false })
    const refused = (data: NumericArray, options: AllreduceOptions, type: new (...args: never[]) => Error) =>
      expect(group!.allreduce(data, options)).rejects.toThrow(type)
    await refused(new Float32Array(1), { op: 'band' }, UnsupportedError)
    await refused(new Uint8Array(1), { op: 'mean' }, UnsupportedError)
    await refused(new Int32Array(1), { op: 'mean', weight: 2 }, UnsupportedError)
    await refused(new Float32Array(1), { op: 'mean', weight: 2, wire: 'q8' }, UnsupportedError)
    await refused(new Float32Array(1), { op: 'prod', wire: 'f16' }, UnsupportedError)
    await refused(new Float32Array(1), { op: 'sum', weight: 2 }, ArgumentError)
    await refused(new Float32Array(1), { weight: -1 }, ArgumentError)
    await refused(new Float32Array(1), { weight: Number.NaN }, ArgumentError)
    await refused(new Uint8Array(2), { into: new Uint8ClampedArray(2) }, ArgumentError)
    await refused([1, 2] as never, {}, ArgumentError)
  })
})
