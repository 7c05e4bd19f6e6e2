import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import { type DType, dtypes, type NumericArray } from '../../../shared/wire/dtype.ts'
import { type KernelName, kernels } from '../../../shared/wire/kernels.ts'
import { admitted } from '../../../shared/wire/operator.ts'
import { resolveOperator } from '../../../shared/wire/resolve.ts'
import { allDtypes, integerFold, randomVector, valueAt, vectorOf } from '../../support/numbers.ts'

const integers = allDtypes.filter((dtype) => !dtypes[dtype].isFloat)
const floats = allDtypes.filter((dtype) => dtypes[dtype].isFloat)

const combined = (dtype: DType, name: KernelName, left: NumericArray, right: NumericArray) => {
  const out = dtypes[dtype].create(left.length)
  kernels[dtype][name]!(out, left, right)
  return out
}

describe('kernels', () => {
  for (const dtype of integers)
    for (const op of admitted[dtype])
      it(`${op} of ${dtype} is the exact result, cut to the type`, () => {
        fc.assert(
          fc.property(fc.integer(), fc.integer({ min: 0, max: 40 }), (seed, count) => {
            const prng = createPrng(seed)
            const inputs = [randomVector(dtype, count, prng), randomVector(dtype, count, prng)]
            const operator = resolveOperator(op, dtypes[dtype])
            const out = dtypes[dtype].create(count)
            operator.combine(out, inputs[0]!, inputs[1]!)
            operator.finish?.(out, 2)
            expect(out).toEqual(integerFold(dtype, op, inputs))
          }),
          { numRuns: 50 },
        )
      })

  it.each(floats)('%s: NaN is kept, -0 is below 0, infinities follow IEEE 754', (dtype) => {
    const { NaN: nan, POSITIVE_INFINITY: inf } = Number
    const cases: [KernelName, number, number, number][] = [
      ['sum', nan, 1, nan],
      ['sum', inf, -inf, nan],
      ['sum', -0, -0, -0],
      ['sum', -0, 0, 0],
      ['prod', inf, 0, nan],
      ['prod', -1, 0, -0],
      ['min', nan, 1, nan],
      ['max', nan, inf, nan],
      ['min', 0, -0, -0],
      ['max', -0, 0, 0],
      ['max', -inf, -2, -2],
      ['min', -inf, -2, -inf],
    ]
    for (const [name, a, b, want] of cases)
      for (const [left, right] of [
        [a, b],
        [b, a],
      ] as const) {
        const out = combined(dtype, name, vectorOf(dtype, [left]), vectorOf(dtype, [right]))
        expect(valueAt(dtype, out, 0), `${name}(${left}, ${right})`).toBe(want)
      }
  })

  it.each(['f16', 'bf16'] as const)('%s: has one NaN, and overflows to infinity', (dtype) => {
    const word = dtype === 'f16' ? 0x7e00 : 0x7fc0
    expect(combined(dtype, 'sum', Uint16Array.of(0xff81), Uint16Array.of(0))[0]).toBe(word)
    const largest = dtype === 'f16' ? 0x7bff : 0x7f7f
    const out = combined(dtype, 'sum', Uint16Array.of(largest), Uint16Array.of(largest))
    expect(valueAt(dtype, out, 0)).toBe(Number.POSITIVE_INFINITY)
  })

  it('work in place on either operand, for every type and operator', () => {
    const prng = createPrng(7)
    for (const dtype of allDtypes)
      for (const [name, combine] of Object.entries(kernels[dtype])) {
        const left = randomVector(dtype, 37, prng)
        const right = randomVector(dtype, 37, prng)
        const expected = combined(dtype, name as KernelName, left, right)
        const onLeft = left.slice()
        combine(onLeft, onLeft, right)
        const onRight = right.slice()
        combine(onRight, left, onRight)
        expect(onLeft, `${name} of ${dtype}`).toEqual(expected)
        expect(onRight, `${name} of ${dtype}`).toEqual(expected)
      }
  })
})
