import { kernelOf } from './resolve.ts'

/** Seconds to combine one byte on this machine: the best of `repeats` runs over 256 KiB, so that a pause does not count. */
export function measureGamma(now: () => number, repeats = 7): number {
  const length = 65536
  const out = new Float32Array(length)
  const other = new Float32Array(length).fill(1)
  const sum = kernelOf('f32', 'sum')
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < repeats; i++) {
    const begin = now()
    for (let inner = 0; inner < 4; inner++) sum(out, out, other)
    best = Math.min(best, now() - begin)
  }
  return best / (4 * length * 4)
}
