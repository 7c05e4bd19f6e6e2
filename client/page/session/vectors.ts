/**
 * The vectors of a run. Element `index` of a peer's vector is a pure function of (seed, peerId, index), so every rank can
 * compute every other rank's input and check the result against it without sending anything.
 */
import type { NumberArray } from '../../../shared/wire/dtype.ts'

/**
 * whole: integers in -1000 .. 1000, whose sums are exact in float32 for any group below 16 000 peers.
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

/** Writes elements first .. first + out.length of the vector of `stream`. */
export function fillVector(out: NumberArray, stream: number, kind: DataKind, first = 0): void {
  const whole = kind === 'whole' || out instanceof Int32Array
  for (let i = 0; i < out.length; i++) {
    const bits = mix(stream + Math.imul(first + i, golden))
    if (whole) out[i] = Math.trunc(bits * (2001 / 2 ** 32)) - 1000
    else if (out instanceof Float32Array) out[i] = bits / 2 ** 31 - 1
    else out[i] = (bits + (mix(bits ^ stream) >>> 11) / 2 ** 21) / 2 ** 31 - 1
  }
}
