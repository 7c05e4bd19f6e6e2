import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ArgumentError, UnsupportedError } from '../../../shared/base/errors.ts'
import { type Codec, codecOf, type FloatArray, type Wire, wires } from '../../../shared/wire/codec.ts'
import { dtypes } from '../../../shared/wire/dtype.ts'
import { operatorNames } from '../../../shared/wire/operator.ts'
import { allDtypes } from '../../support/numbers.ts'

const names = Object.keys(wires) as Wire[]
const pairs = names.flatMap((wire) =>
  wires[wire].dtypes.map((dtype) => [wire, dtype as 'f32' | 'f64'] as const),
)

const through = (codec: Codec, values: FloatArray) => {
  const bytes = new Uint8Array(codec.encodedBytes(values.length))
  codec.encode(values, bytes)
  const back = values.slice()
  codec.decode(bytes, back)
  return { bytes, back }
}

/** Whole blocks of finite numbers of all sizes, often of one size per block, with zeros of both signs. */
const blocks = (codec: Codec, dtype: 'f32' | 'f64') =>
  fc
    .array(
      fc.tuple(
        fc.integer({ min: -100, max: 100 }),
        fc.array(fc.oneof(fc.double({ min: -1, max: 1, noNaN: true }), fc.constantFrom(0, -0, 1, -1)), {
          minLength: codec.block,
          maxLength: codec.block,
        }),
      ),
      { minLength: 1, maxLength: codec.block === 1 ? 40 : 3 },
    )
    .map((all) => {
      const values = all.flatMap(([exponent, block]) => block.map((x) => x * 2 ** exponent))
      return dtype === 'f32' ? Float32Array.from(values) : Float64Array.from(values)
    })

/** What docs/numbers.md promises for one element, from the largest magnitude of its block. */
const bounds: Record<Wire, (x: number, largest: number) => number> = {
  f32: (x) => Math.max(Math.abs(x) * 2 ** -24, 2 ** -150),
  f16: (x) => Math.max(Math.abs(x) * 2 ** -11 * (1 + 2 ** -12), 2 ** -25 * (1 + 2 ** -12)),
  bf16: (x) => Math.max(Math.abs(x) * 2 ** -8 * (1 + 2 ** -15), 2 ** -134),
  q8: (_, largest) => Math.max(largest / 253, 2 ** -110),
}

describe.each(pairs)('%s on %s', (wire, dtype) => {
  const codec = codecOf(wire, dtype, 'sum')!

  it('keeps every element within the bound', () => {
    fc.assert(
      fc.property(blocks(codec, dtype), (values) => {
        const { back } = through(codec, values)
        for (let begin = 0; begin < values.length; begin += codec.block) {
          const block = values.subarray(begin, begin + codec.block)
          const largest = Math.max(...block.map(Math.abs))
          for (const [i, x] of block.entries()) {
            const bound = bounds[wire](x, largest)
            if (wire === 'f16' && Math.abs(x) >= 65520)
              expect(back[begin + i]).toBe(x < 0 ? -Infinity : Infinity)
            else expect(Math.abs(back[begin + i]! - x)).toBeLessThanOrEqual(bound)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('is a projection: what was decoded travels as the same bytes', () => {
    const wild = fc.uint8Array({ minLength: codec.block * 8, maxLength: codec.block * 8 }).map((bytes) => {
      const all = new Float64Array(bytes.slice().buffer)
      return dtype === 'f64' ? all : new Float32Array(all.buffer).slice(0, codec.block)
    })
    fc.assert(
      fc.property(fc.oneof(blocks(codec, dtype), wild), (values) => {
        const { bytes, back } = through(codec, values)
        const again = through(codec, back)
        expect(again.bytes).toEqual(bytes)
        expect(again.back).toEqual(back)
      }),
      { numRuns: 1000 },
    )
  })

  it('tells how many elements are in so many bytes, and which numbers of bytes it cannot be', () => {
    for (let bytes = 0; bytes < 300; bytes++) {
      const elements = codec.elementsIn(bytes)
      if (elements === undefined) continue
      expect(elements % codec.block).toBe(0)
      expect(codec.encodedBytes(elements)).toBe(bytes)
    }
    expect(codec.elementsIn(codec.encodedBytes(7 * codec.block))).toBe(7 * codec.block)
    expect(codec.elementsIn(codec.encodedBytes(codec.block) + 1)).toBeUndefined()
  })

  it('decodes from any address', () => {
    const values = dtypes[dtype].create(codec.block * 2).map((_: number, i: number) => i - 20) as FloatArray
    const { bytes, back } = through(codec, values)
    const moved = new Uint8Array(bytes.length + 3)
    moved.set(bytes, 3)
    const other = values.slice()
    codec.decode(moved.subarray(3), other)
    expect(other).toEqual(back)
  })
})

it('q8 shows a NaN or an infinity in the whole block, and nowhere else', () => {
  const codec = codecOf('q8', 'f32', 'sum')!
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const values = new Float32Array(128).fill(1)
    values[3] = bad
    const { back } = through(codec, values)
    expect(back.subarray(0, 64).every(Number.isNaN)).toBe(true)
    expect(back.subarray(64).every((x) => Math.abs(x - 1) < 1 / 253)).toBe(true)
  }
})

it('q8 takes the largest float32 without overflow', () => {
  const codec = codecOf('q8', 'f32', 'sum')!
  const largest = (2 - 2 ** -23) * 2 ** 127
  const values = new Float32Array(64).fill(largest)
  const { back } = through(codec, values)
  for (const x of back) expect(Math.abs(x / largest - 1)).toBeLessThan(2 ** -6)
})

describe('the table of wires', () => {
  it('admits what it lists, and refuses the rest with advice', () => {
    for (const wire of names)
      for (const dtype of allDtypes)
        for (const op of [...operatorNames, 'weighted mean', 'fold ']) {
          if (wire === dtype) expect(codecOf(wire, dtype, op)).toBeUndefined()
          else if (wires[wire].dtypes.includes(dtype) && wires[wire].operators.includes(op))
            expect(codecOf(wire, dtype, op)?.name).toBe(wire)
          else {
            expect(() => codecOf(wire, dtype, op)).toThrow(UnsupportedError)
            expect(() => codecOf(wire, dtype, op)).toThrow(/Leave wire away/)
          }
        }
    expect(() => codecOf('q4' as never, 'f32', 'sum')).toThrow(ArgumentError)
    expect(codecOf(undefined, 'f32', 'sum')).toBeUndefined()
  })
})
