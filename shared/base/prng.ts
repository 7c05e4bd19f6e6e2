/**
 * Seeded pseudo-random numbers (mulberry32): the same seed gives the same sequence on every platform.
 * For test data, jitter and simulations; never for secrets.
 */
export interface Prng {
  /** Uniform in [0, 1). */
  next(): number
  /** Uniform integer in [0, bound). */
  below(bound: number): number
}

export function createPrng(seed: number): Prng {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  return { next, below: (bound) => Math.floor(next() * bound) }
}
