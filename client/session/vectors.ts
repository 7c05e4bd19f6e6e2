/**
 * The vectors of a run. Element `index` of a peer's vector is a pure function of (seed, peerId, index), so every rank can
 * compute every other rank's input and check the result against it without sending anything.
 */
import type { NumericArray } from '../../shared/wire/dtype.ts'
import { halfOf } from '../../shared/wire/half.ts'
import type { RunSpec } from './runSpec.ts'

/**
 * whole: small integers, whose sums are exact in every type for any class of peers.
 * real: uniform in [-1, 1) with all the bits that the type has.
 */
export type DataKind = 'whole' | 'real'

const golden = 0x9e3779b1

/** Mixes 32 bits (the finaliser of MurmurHash3): every input bit reaches every output bit. */
function mix(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** The number that stands for one peer's vector in one run: FNV-1a of the peerId, mixed with the seed. */
export function streamOf(seed: number, peerId: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < peerId.length; i++) h = Math.imul(h ^ peerId.charCodeAt(i), 0x01000193)
  return mix(h ^ mix(seed + golden))
}

/** Whole numbers go from -largestWhole to largestWhole: few enough bits for exact sums of any class of peers. */
export const largestWhole = { f32: 1000, f64: 1000, i32: 1000, f16: 60, bf16: 8 } as const

/** Writes elements first .. first + out.length of the vector of `stream`. Of i64 and u8 all values are whole. */
export function fillVector(
  dtype: RunSpec['dtype'],
  out: NumericArray,
  stream: number,
  kind: DataKind,
  first = 0,
): void {
  const bitsAt = (i: number) => mix(stream + Math.imul(first + i, golden))
  if (dtype === 'i64') {
    // In halves: making bigints takes far longer.
    const halves = new Int32Array(out.buffer, out.byteOffset, 2 * out.length)
    for (let i = 0; i < out.length; i++) {
      const bits = bitsAt(i)
      halves[2 * i] = bits
      halves[2 * i + 1] = mix(bits ^ stream) >> 8
    }
    return
  }
  if (dtype === 'u8') {
    for (let i = 0; i < out.length; i++) out[i] = bitsAt(i) >>> 24
    return
  }
  const half = halfOf(dtype)
  const largest = largestWhole[dtype]
  const whole = kind === 'whole' || dtype === 'i32'
  for (let i = 0; i < out.length; i++) {
    const bits = bitsAt(i)
    const value = whole
      ? Math.trunc(bits * ((2 * largest + 1) / 2 ** 32)) - largest
      : dtype === 'f64'
        ? (bits + (mix(bits ^ stream) >>> 11) / 2 ** 21) / 2 ** 31 - 1
        : bits / 2 ** 31 - 1
    out[i] = half ? half.toWord(value) : value
  }
}
