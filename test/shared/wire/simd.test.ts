import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import { type DType, dtypes, type NumericArray } from '../../../shared/wire/dtype.ts'
import { type KernelName, kernels } from '../../../shared/wire/kernels.ts'
import { simdKernel } from '../../../shared/wire/simd.ts'
import { allDtypes } from '../../support/numbers.ts'

const pairs = allDtypes.flatMap((dtype) =>
  Object.keys(kernels[dtype]).map((name) => [dtype, name as KernelName] as const),
)
/** No instruction multiplies bytes. */
const withoutInstruction = ['i8 prod', 'u8 prod', 'u8c prod']

const bitsOf = ({ buffer, byteOffset, byteLength }: NumericArray) =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** Random bits, so that floats of all kinds are met; with NaN of f32 and f64 as one, whose bits nobody promises. */
function wild(dtype: DType, count: number, seed: number): NumericArray {
  const array = dtypes[dtype].create(count)
  const bytes = bitsOf(array)
  const prng = createPrng(seed)
  for (let i = 0; i < bytes.length; i++) bytes[i] = prng.below(256)
  return array
}
function withOneNaN(array: NumericArray): NumericArray {
  if (array instanceof Float32Array || array instanceof Float64Array)
    for (let i = 0; i < array.length; i++) if (Number.isNaN(array[i]!)) array[i] = Number.NaN
  return array
}

describe('SIMD kernels', () => {
  it('exist for every pair but those that no instruction serves', () => {
    const missing = pairs.filter(([dtype, name]) => !simdKernel(dtype, name)).map((pair) => pair.join(' '))
    expect(missing).toEqual(withoutInstruction)
  })

  for (const [dtype, name] of pairs)
    if (!withoutInstruction.includes(`${dtype} ${name}`))
      it(`${name} of ${dtype} gives the same bits as the loop`, () => {
        fc.assert(
          fc.property(
            fc.integer(),
            fc.nat(200),
            fc.constantFrom('apart', 'left', 'right'),
            (seed, count, place) => {
              const left = wild(dtype, count, seed)
              const right = wild(dtype, count, seed + 1)
              const expected = dtypes[dtype].create(count)
              kernels[dtype][name]!(expected, left, right)
              const out = place === 'left' ? left : place === 'right' ? right : dtypes[dtype].create(count)
              simdKernel(dtype, name)!(out, left, right)
              expect(bitsOf(withOneNaN(out))).toEqual(bitsOf(withOneNaN(expected)))
            },
          ),
          { numRuns: 30 },
        )
      })

  it('take vectors beyond one block, and parts of a buffer', () => {
    for (const dtype of ['i8', 'f32', 'u64'] as const) {
      const count = Math.floor(200_000 / dtypes[dtype].bytes) + 3
      const [left, right] = [wild(dtype, count, 1), wild(dtype, count, 2)]
      const name = dtype === 'f32' ? 'min' : 'sum'
      const expected = dtypes[dtype].create(count - 1)
      kernels[dtype][name]!(expected, left.subarray(1), right.subarray(1))
      const out = dtypes[dtype].create(count + 1)
      simdKernel(dtype, name)!(out.subarray(1, count), left.subarray(1), right.subarray(1))
      expect(bitsOf(withOneNaN(out.subarray(1, count)))).toEqual(bitsOf(withOneNaN(expected)))
      expect(Number(out[0])).toBe(0)
      expect(Number(out[count])).toBe(0)
    }
  })

  it.each(['f16', 'bf16'] as const)(
    'every word of %s is widened and rounded as the loop does it',
    (dtype) => {
      const all = Uint16Array.from({ length: 65536 }, (_, word) => word)
      for (const other of [0x8000, 0x3c00, 0x3f80, 0x0001, 0x7bff, 0x0400]) {
        const right = new Uint16Array(65536).fill(other)
        for (const name of ['sum', 'prod'] as const) {
          const expected = new Uint16Array(65536)
          kernels[dtype][name]!(expected, all, right)
          const out = new Uint16Array(65536)
          simdKernel(dtype, name)!(out, all, right)
          expect(out).toEqual(expected)
        }
      }
    },
  )
})
