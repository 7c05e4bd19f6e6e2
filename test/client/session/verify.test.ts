import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashBits, spreadOf } from '../../../client/session/bits.ts'
import { isOffered, shownOperators, shownTypes } from '../../../client/session/runSpec.ts'
import { type DataKind, fillVector, streamOf } from '../../../client/session/vectors.ts'
import { type Reference, verify } from '../../../client/session/verify.ts'
import { dtypes, type NumericArray } from '../../../shared/wire/dtype.ts'
import { halfOf } from '../../../shared/wire/half.ts'
import { resolveOperator } from '../../../shared/wire/resolve.ts'

type Shown = Reference['dtype']

function createVector<Name extends Shown>(dtype: Name, count: number, stream: number, kind: DataKind) {
  const vector = dtypes[dtype].create(count) as ReturnType<(typeof dtypes)[Name]['create']>
  fillVector(dtype, vector, stream, kind)
  return vector
}

/** Folds the contributors in the given order with the kernels of the library: what a rank would hold. */
function foldInOrder(reference: Reference, count: number, order = reference.streams): NumericArray {
  const { op, dtype, kind } = reference
  const result: NumericArray = createVector(dtype, count, order[0]!, kind)
  const { combine, finish } = resolveOperator(op, dtypes[dtype])
  for (const stream of order.slice(1)) combine(result, result, createVector(dtype, count, stream, kind))
  finish?.(result, order.length)
  return result
}

const pairs = shownTypes.flatMap((dtype) =>
  shownOperators.flatMap((op) => (isOffered(dtype, op) ? [{ dtype, op }] : [])),
)

const references = fc
  .record({
    pair: fc.constantFrom(...pairs),
    kind: fc.constantFrom('whole', 'real'),
    streams: fc
      .tuple(fc.nat(), fc.integer({ min: 1, max: 12 }))
      .map(([seed, size]) => Array.from({ length: size }, (_, rank) => streamOf(seed, `peer${rank}`))),
  })
  .map(({ pair, ...rest }): Reference => ({ ...pair, ...rest }))

/** Far beyond any rounding: to another value of the same type. */
function disturb(dtype: Shown, result: NumericArray, i: number): void {
  const half = halfOf(dtype)
  if (half) {
    result[i] = half.toWord(half.toNumber(Number(result[i])) + 1000)
  } else result[i] = (dtype === 'i64' ? BigInt(result[i]!) + 1n : Number(result[i]) + 1) as never
}

describe('vectors', () => {
  it('can be filled from any place', () => {
    for (const dtype of shownTypes)
      for (const kind of ['whole', 'real'] as const) {
        const whole = createVector(dtype, 1000, 7, kind)
        const part = dtypes[dtype].create(100)
        fillVector(dtype, part, 7, kind, 900)
        expect(part).toEqual(whole.slice(900))
      }
  })

  it('whole numbers are integers of at most 1000, real ones fill [-1, 1) evenly', () => {
    const whole = createVector('f32', 20_000, 3, 'whole')
    expect(whole.every((x) => Number.isInteger(x) && Math.abs(x) <= 1000)).toBe(true)
    expect(new Set(whole).size).toBeGreaterThan(1950)
    for (const dtype of ['f32', 'f64'] as const) {
      const real = createVector(dtype, 20_000, 3, 'real')
      const tenths = new Array(10).fill(0)
      for (const x of real) tenths[Math.floor((x + 1) * 5)]++
      for (const n of tenths) expect(Math.abs(n - 2000)).toBeLessThan(250)
    }
  })

  it('differ between peers and seeds', () => {
    const streams = new Set<number>()
    for (let seed = 0; seed < 30; seed++)
      for (let peer = 0; peer < 30; peer++) streams.add(streamOf(seed, `peer${peer}`))
    expect(streams.size).toBe(900)
  })
})

describe('verify', () => {
  it('accepts every order of the operands and says how close to the bound it was', async () => {
    await fc.assert(
      fc.asyncProperty(references, fc.nat(300), fc.boolean(), async (reference, count, backwards) => {
        const order = backwards ? [...reference.streams].reverse() : reference.streams
        const verdict = await verify(foldInOrder(reference, count, order), reference)
        expect(verdict.wrong).toBe(0)
        expect(verdict.largestError).toBeLessThanOrEqual(1)
        if (verdict.exact) expect(verdict.largestError).toBe(0)
      }),
    )
  })

  it('finds each element that was changed by more than the rounding', async () => {
    await fc.assert(
      fc.asyncProperty(
        references,
        fc.uniqueArray(fc.nat(299), { minLength: 1 }),
        async (reference, places) => {
          const result = foldInOrder(reference, 300)
          for (const i of places) disturb(reference.dtype, result, i)
          const verdict = await verify(result, reference)
          expect(verdict.wrong).toBe(places.length)
          expect(verdict.firstWrong?.index).toBe(Math.min(...places))
        },
      ),
    )
  })

  it('counts NaN and a contribution that came twice as wrong', async () => {
    const reference: Reference = { op: 'sum', dtype: 'f32', kind: 'real', streams: [1, 2, 3] }
    const result = foldInOrder(reference, 100, [1, 2, 3, 3])
    result[0] = Number.NaN
    expect((await verify(result, reference)).wrong).toBeGreaterThan(95)
  })

  it('breathes after each block and takes length 0', async () => {
    const reference: Reference = { op: 'sum', dtype: 'i32', kind: 'whole', streams: [1, 2] }
    let breaths = 0
    const breathe = async () => void breaths++
    expect(await verify(foldInOrder(reference, 20_000), reference, breathe)).toEqual({
      wrong: 0,
      exact: true,
      largestError: 0,
    })
    expect(breaths).toBe(3)
    expect((await verify(new Int32Array(0), reference)).wrong).toBe(0)
  })
})

describe('bits', () => {
  it('hash differs when one bit, the order or the length differs', () => {
    const vector = createVector('f32', 1000, 5, 'real')
    const hashes = new Set([hashBits(vector), hashBits(vector.slice(1)), hashBits(vector.slice().reverse())])
    for (let i = 0; i < 1000; i += 37) {
      const other = vector.slice()
      new Uint32Array(other.buffer)[i]! ^= 1 << (i % 32)
      hashes.add(hashBits(other))
    }
    expect(hashes.size).toBe(3 + 28)
    expect(hashBits(vector)).toBe(hashBits(vector.slice()))
    expect(hashBits(Uint8Array.of(1, 2, 3, 4, 5))).not.toBe(hashBits(Uint8Array.of(1, 2, 3, 4, 6)))
    expect(hashBits(new Float32Array(0))).toMatch(/^[0-9a-f]{16}$/)
  })

  it('counts units in the last place, through zero, for each type', () => {
    const next32 = new Float32Array(new Int32Array([0x3f800003]).buffer)[0]!
    expect(spreadOf('f32', Float32Array.of(1, -0, 5), Float32Array.of(next32, 0, 5))).toEqual({
      elements: 2,
      ulps: 3,
    })
    expect(
      spreadOf(
        'f64',
        Float64Array.of(1, -1),
        Float64Array.of(1 + 2 * Number.EPSILON, -1 + Number.EPSILON / 2),
      ),
    ).toEqual({
      elements: 2,
      ulps: 2,
    })
    expect(spreadOf('f32', Float32Array.of(-1e-45), Float32Array.of(1e-45))).toEqual({ elements: 1, ulps: 3 })
    expect(spreadOf('i32', Int32Array.of(-3, 4), Int32Array.of(4, 4))).toEqual({ elements: 1, ulps: 7 })
    expect(spreadOf('f16', Uint16Array.of(0x8001), Uint16Array.of(0x0001))).toEqual({ elements: 1, ulps: 3 })
    expect(spreadOf('i64', BigInt64Array.of(-3n), BigInt64Array.of(4n))).toEqual({ elements: 1, ulps: 7 })
  })
})
