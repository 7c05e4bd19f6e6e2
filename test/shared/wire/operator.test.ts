import { describe, expect, it } from 'vitest'
import { ArgumentError, UnsupportedError } from '../../../shared/base/errors.ts'
import { dtypeOf, dtypes } from '../../../shared/wire/dtype.ts'
import { kernels } from '../../../shared/wire/kernels.ts'
import { admitted, operatorNames } from '../../../shared/wire/operator.ts'
import { resolveOperator } from '../../../shared/wire/resolve.ts'
import { allDtypes, vectorOf } from '../../support/numbers.ts'

describe('the table of types and operators', () => {
  it('has a kernel for each pair that it admits, and refuses the others with advice', () => {
    for (const dtype of allDtypes)
      for (const op of operatorNames)
        if (admitted[dtype].includes(op))
          expect(resolveOperator(op, dtypes[dtype]).combine).toBeTypeOf('function')
        else {
          expect(() => resolveOperator(op, dtypes[dtype])).toThrow(UnsupportedError)
          expect(() => resolveOperator(op, dtypes[dtype])).toThrow(/Pass the values as|View the same memory/)
        }
    for (const dtype of allDtypes)
      for (const name of Object.keys(kernels[dtype])) expect(admitted[dtype]).toContain(name)
  })

  it('knows which results depend on the order of the operands, and which contributions may count twice', () => {
    expect(resolveOperator('sum', dtypes.f32)).toMatchObject({
      rounds: true,
      idempotent: false,
      commutative: true,
    })
    expect(resolveOperator('prod', dtypes.bf16)).toMatchObject({ rounds: true })
    expect(resolveOperator('sum', dtypes.i64)).toMatchObject({ rounds: false, idempotent: false })
    expect(resolveOperator('max', dtypes.f32)).toMatchObject({ rounds: false, idempotent: true })
    expect(resolveOperator('bor', dtypes.u8)).toMatchObject({ rounds: false, idempotent: true })
    expect(resolveOperator('bxor', dtypes.u8)).toMatchObject({ rounds: false, idempotent: false })
  })

  it('refuses operators that do not exist', () => {
    expect(() => resolveOperator('avg' as never, dtypes.f32)).toThrow(ArgumentError)
    expect(() => resolveOperator('toString' as never, dtypes.f32)).toThrow(/Use one of: sum, mean/)
    expect(() => resolveOperator({} as never, dtypes.f32)).toThrow(/combine/)
  })
})

describe('mean', () => {
  it.each(['f16', 'bf16', 'f32', 'f64'] as const)(
    'of %s is the fold divided by the size, rounded once',
    (dtype) => {
      const out = vectorOf(dtype, [7, -1])
      resolveOperator('mean', dtypes[dtype]).finish?.(out, 2)
      expect(out).toEqual(vectorOf(dtype, [3.5, -0.5]))
    },
  )

  it.each(['i32', 'i64'] as const)('of %s is cut towards zero', (dtype) => {
    const out = vectorOf(dtype, [7, -7, 6])
    resolveOperator('mean', dtypes[dtype]).finish?.(out, 2)
    expect(out).toEqual(vectorOf(dtype, [3, -3, 3]))
  })
})

describe('dtypeOf', () => {
  it('knows every typed array', () => {
    for (const dtype of allDtypes) {
      const array = dtypes[dtype].create(1)
      expect(dtypeOf(array, dtype)).toBe(dtypes[dtype])
      if (dtype !== 'f16' && dtype !== 'bf16') expect(dtypeOf(array)).toBe(dtypes[dtype])
    }
  })

  it('knows the Float16Array of runtimes that have it', () => {
    class Native extends Uint16Array {
      override get [Symbol.toStringTag](): 'Uint16Array' {
        return 'Float16Array' as never
      }
    }
    expect(dtypeOf(new Native(2))).toBe(dtypes.f16)
  })

  it('refuses what is no typed array of numbers, and a dtype that does not fit', () => {
    for (const data of [[1, 2], new DataView(new ArrayBuffer(8)), new ArrayBuffer(8), null, 'x', {}])
      expect(() => dtypeOf(data)).toThrow(/Pass a typed array/)
    expect(() => dtypeOf(new Float32Array(1), 'f16')).toThrow(/only the words of a Uint16Array/)
    expect(() => dtypeOf(new Uint16Array(1), 'f8' as never)).toThrow(/no dtype "f8"/)
  })
})
