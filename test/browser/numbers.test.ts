/** What only a browser shows: its own WebAssembly, and the Float16Array that Node 20 has not. */
import { describe, expect, it } from 'vitest'
import { createPrng } from '../../shared/base/prng.ts'
import { createMemoryGroup } from '../../shared/collective/memoryGroup.ts'
import { codecOf } from '../../shared/wire/codec.ts'
import {
  dtypes,
  isNativeFloat16,
  type NativeFloat16Array,
  type NumericArray,
} from '../../shared/wire/dtype.ts'
import { type KernelName, kernels } from '../../shared/wire/kernels.ts'
import { dequantize, quantize } from '../../shared/wire/quantize.ts'
import { simdKernel } from '../../shared/wire/simd.ts'
import { simdHalves, simdQ8 } from '../../shared/wire/simdCodec.ts'
import { allDtypes, randomVector } from '../support/numbers.ts'

const bytesOf = ({ buffer }: NumericArray) => new Uint8Array(buffer)

describe('WebAssembly SIMD in the browser', () => {
  it('combines every pair that has an instruction to the same bits as the loops', () => {
    const prng = createPrng(11)
    let pairs = 0
    for (const dtype of allDtypes)
      for (const [name, loop] of Object.entries(kernels[dtype])) {
        const simd = simdKernel(dtype, name as KernelName)
        if (!simd) continue
        pairs++
        const [left, right] = [randomVector(dtype, 333, prng), randomVector(dtype, 333, prng)]
        const [out, expected] = [dtypes[dtype].create(333), dtypes[dtype].create(333)]
        simd(out, left, right)
        loop(expected, left, right)
        expect(bytesOf(out), `${name} of ${dtype}`).toEqual(bytesOf(expected))
      }
    expect(pairs).toBeGreaterThan(60)
  })

  it('encodes and decodes as the loops do', () => {
    const values = randomVector('f32', 640, createPrng(3)) as Float32Array
    const [scales, levels] = [new Uint16Array(10), new Int8Array(640)]
    quantize(values, scales, levels)
    const expected = new Float32Array(640)
    dequantize(scales, levels, expected)
    const codec = codecOf('q8', 'f32', 'sum')!
    const encoded = new Uint8Array(codec.encodedBytes(640))
    codec.encode(values, encoded)
    const back = new Float32Array(640)
    codec.decode(encoded, back)
    expect(simdQ8()).toBeDefined()
    expect(simdHalves.f16()).toBeDefined()
    expect(back).toEqual(expected)
  })
})

describe('Float16Array', () => {
  const Native = (globalThis as { Float16Array?: { of(...values: number[]): NativeFloat16Array } })
    .Float16Array

  it('goes in and comes out', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const into = Native!.of(0, 0)
    const results = await Promise.all(
      groups.map((group, rank) =>
        group.allreduce(Native!.of(rank, 0.5), { op: 'mean', ...(rank === 0 && { into }) }),
      ),
    )
    for (const { data } of results) {
      expect(isNativeFloat16(data)).toBe(true)
      expect([data[0], data[1]]).toEqual([1, 0.5])
    }
    expect(results[0]!.data).toBe(into)
  })
})
