/** Loops against WebAssembly SIMD, the same in Node and in a tab: bundled, so no import of either. */
import { codecOf, type Wire } from '../../shared/wire/codec.ts'
import { type DType, dtypes } from '../../shared/wire/dtype.ts'
import { bf16, f16 } from '../../shared/wire/half.ts'
import { type KernelName, kernels } from '../../shared/wire/kernels.ts'
import { dequantize, q8Block, quantize } from '../../shared/wire/quantize.ts'
import { simdKernel } from '../../shared/wire/simd.ts'

/** GB/s of one operand: median, least and most of the runs. */
export type Rate = readonly [median: number, least: number, most: number]

export interface KernelTimes {
  readonly what: string
  readonly loop: Rate
  /** Undefined where there is no SIMD kernel. */
  readonly simd: Rate | undefined
}

const rounds = 5
/** Clocks of browsers are coarse. */
const msPerRun = 20

const timed = (work: () => void, count: number) => {
  const begin = performance.now()
  for (let i = 0; i < count; i++) work()
  return performance.now() - begin
}

/** How often `work` fits a run; finding out warms it up. */
function repeatsOf(work: () => void): number {
  let count = 1
  while (timed(work, count) < msPerRun) count *= 2
  return count
}

/** Runs take turns, so that all see the same machine. */
function measure(works: readonly (() => void)[], bytes: number): Rate[] {
  const repeats = works.map(repeatsOf)
  const rates = works.map((): number[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [i, work] of works.entries()) {
      const ms = timed(work, repeats[i]!)
      rates[i]!.push((bytes * repeats[i]!) / ms / 1e6)
    }
  return rates.map((all) => {
    all.sort((a, b) => a - b)
    return [all[all.length >> 1]!, all[0]!, all.at(-1)!]
  })
}

function combineTimes(dtype: DType, name: KernelName, bytes: number): KernelTimes {
  const count = Math.floor(bytes / dtypes[dtype].bytes)
  const [a, b] = [dtypes[dtype].create(count), dtypes[dtype].create(count)]
  const loop = kernels[dtype][name]!
  const simd = simdKernel(dtype, name)
  const works = [() => loop(a, a, b), ...(simd ? [() => simd(a, a, b)] : [])]
  const [ofLoop, ofSimd] = measure(works, count * dtypes[dtype].bytes)
  return { what: `${name} ${dtype}`, loop: ofLoop!, simd: ofSimd }
}

function codingTimes(wire: Wire, bytes: number): KernelTimes[] {
  const codec = codecOf(wire, 'f32', 'sum')!
  const count = Math.floor(bytes / 4 / q8Block) * q8Block
  const values = Float32Array.from({ length: count }, (_, i) => Math.sin(i))
  const encoded = new Uint8Array(codec.encodedBytes(count))
  const words = new Uint16Array(count)
  const [scales, levels] = [new Uint16Array(count / q8Block), new Int8Array(count)]
  const half = wire === 'f16' ? f16 : bf16
  const encodeLoop =
    wire === 'q8'
      ? () => quantize(values, scales, levels)
      : () => {
          for (let i = 0; i < count; i++) words[i] = half.toWord(values[i]!)
        }
  const decodeLoop =
    wire === 'q8'
      ? () => dequantize(scales, levels, values)
      : () => {
          for (let i = 0; i < count; i++) values[i] = half.toNumber(words[i]!)
        }
  const [encodes, encodesSimd] = measure([encodeLoop, () => codec.encode(values, encoded)], count * 4)
  const [decodes, decodesSimd] = measure([decodeLoop, () => codec.decode(encoded, values)], count * 4)
  return [
    { what: `encode f32 as ${wire}`, loop: encodes!, simd: encodesSimd },
    { what: `decode ${wire} to f32`, loop: decodes!, simd: decodesSimd },
  ]
}

/** `bytes` of one operand. */
export function kernelTimes(bytes: number): KernelTimes[] {
  const sums = (Object.keys(dtypes) as DType[]).map((dtype) => combineTimes(dtype, 'sum', bytes))
  const others = [
    combineTimes('f32', 'max', bytes),
    combineTimes('i32', 'prod', bytes),
    combineTimes('i64', 'min', bytes),
  ]
  return [...sums, ...others, ...(['f16', 'bf16', 'q8'] as const).flatMap((wire) => codingTimes(wire, bytes))]
}
