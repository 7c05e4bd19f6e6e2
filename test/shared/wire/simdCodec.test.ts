import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import { bf16, f16 } from '../../../shared/wire/half.ts'
import { dequantize, quantize } from '../../../shared/wire/quantize.ts'
import { simdHalves, simdQ8 } from '../../../shared/wire/simdCodec.ts'

/** Floats of any bits, or of a few sizes. */
function floats(count: number, seed: number, isWild: boolean): Float32Array {
  const prng = createPrng(seed)
  const out = new Float32Array(count)
  if (!isWild) return out.map(() => (prng.next() - 0.5) * 2 ** (prng.below(60) - 30))
  const bits = new Uint32Array(out.buffer)
  for (let i = 0; i < count; i++) bits[i] = prng.below(2 ** 32)
  return out
}

describe.each([
  ['f16', f16],
  ['bf16', bf16],
] as const)('SIMD coding of %s', (name, half) => {
  it('encodes and decodes as the loop does', () => {
    const simd = simdHalves[name]()!
    fc.assert(
      fc.property(
        fc.integer(),
        fc.constantFrom(0, 1, 7, 100, 20_000),
        fc.boolean(),
        (seed, count, isWild) => {
          const values = floats(count, seed, isWild)
          const words = new Uint16Array(count)
          simd.encode(values, words)
          expect(words).toEqual(Uint16Array.from(values, half.toWord))
          const back = new Float32Array(count)
          simd.decode(words, back)
          expect(back).toEqual(Float32Array.from(words, half.toNumber))
        },
      ),
      { numRuns: 25 },
    )
  })
})

describe('SIMD coding of q8', () => {
  it('encodes and decodes as the loop does', () => {
    const simd = simdQ8()!
    const sizes = fc.constantFrom(0, 1, 3, 300)
    fc.assert(
      fc.property(fc.integer(), sizes, fc.boolean(), fc.boolean(), (seed, blocks, isWild, hasNaN) => {
        const values = floats(blocks * 64, seed, isWild)
        if (hasNaN && blocks > 0) values[values.length - 5] = Number.NaN
        const [scales, levels] = [new Uint16Array(blocks), new Int8Array(blocks * 64)]
        simd.quantize(values, scales, levels)
        const [scalesOfLoop, levelsOfLoop] = [new Uint16Array(blocks), new Int8Array(blocks * 64)]
        quantize(values, scalesOfLoop, levelsOfLoop)
        expect(scales).toEqual(scalesOfLoop)
        expect(levels).toEqual(levelsOfLoop)
        const [back, backOfLoop] = [new Float32Array(blocks * 64), new Float32Array(blocks * 64)]
        simd.dequantize(scales, levels, back)
        dequantize(scales, levels, backOfLoop)
        expect(back).toEqual(backOfLoop)
      }),
      { numRuns: 50 },
    )
  })
})
