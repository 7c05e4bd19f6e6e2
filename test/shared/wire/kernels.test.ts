import { describe, expect, it } from 'vitest'
import { operators } from '../../../shared/wire/kernels.ts'

const fold = (
  name: keyof typeof operators,
  left: number[],
  right: number[],
  type: typeof Float32Array | typeof Int32Array,
) => {
  const out = new type(left.length)
  operators[name].combine(out, type.from(left), type.from(right))
  return [...out]
}

describe('kernels', () => {
  it('wrap sums of integers modulo 2^32', () => {
    expect(fold('sum', [2 ** 31 - 1, -(2 ** 31)], [1, -1], Int32Array)).toEqual([-(2 ** 31), 2 ** 31 - 1])
  })

  it('give NaN for min and max of NaN, and order -0 below +0, on either side', () => {
    for (const name of ['min', 'max'] as const) {
      expect(fold(name, [Number.NaN, 1], [1, Number.NaN], Float32Array)).toEqual([Number.NaN, Number.NaN])
      const zero = name === 'min' ? -0 : 0
      for (const value of fold(name, [0, -0], [-0, 0], Float32Array))
        expect(Object.is(value, zero)).toBe(true)
    }
  })

  it('divide the sum by the size for the mean, cut towards zero for integers', () => {
    const ints = Int32Array.of(7, -7, 6)
    operators.mean.finish?.(ints, 2)
    expect([...ints]).toEqual([3, -3, 3])
    const floats = Float32Array.of(7)
    operators.mean.finish?.(floats, 2)
    expect(floats[0]).toBe(3.5)
  })

  it('work in place on either operand', () => {
    const left = Float32Array.of(1, 2)
    const right = Float32Array.of(10, 20)
    operators.sum.combine(left, left, right)
    expect([...left]).toEqual([11, 22])
    operators.sum.combine(right, left, right)
    expect([...right]).toEqual([21, 42])
  })
})
