/**
 * The formulas of the literature: one message at a time per rank, every message alpha + beta * bytes, and gamma per
 * byte combined. For the page and the docs, to show what theory says beside what the exact count says; the choice
 * never uses them (docs/cost-model.md says where they are loose). Equation numbers: Kolmakov and Zhang 2020.
 */

/** Seconds per message, per byte sent and per byte combined. */
export interface LineCost {
  readonly alpha: number
  readonly beta: number
  readonly gamma: number
}

const logs = (size: number): number => Math.ceil(Math.log2(size))

/** How many of each a formula counts; `bytes` and `combined` in vectors. */
export interface Terms {
  readonly steps: number
  readonly sent: number
  readonly combined: number
}

export function secondsOf({ steps, sent, combined }: Terms, bytes: number, cost: LineCost): number {
  return steps * cost.alpha + sent * bytes * cost.beta + combined * bytes * cost.gamma
}

/** Equation 15: 2 (P - 1) alpha + 2 (P - 1) u beta + (P - 1) u gamma, u = m / P. */
export function ringTerms(size: number): Terms {
  return { steps: 2 * (size - 1), sent: (2 * (size - 1)) / size, combined: (size - 1) / size }
}

/**
 * The generalized butterfly with r steps removed: equations 25 (r = 0), 36 (0 < r < L) and 44 (r = L = ceil(log2 P)).
 * Equation 36 counts 2^r copies where M = ceil(P / 2^(L - r)) are enough, so it is an upper bound.
 */
export function butterflyTerms(size: number, r: number): Terms {
  const steps = logs(size)
  if (size === 1) return { steps: 0, sent: 0, combined: 0 }
  // Equation 44 has 2 L - 2 combines, which is 0 for two ranks, where one vector is combined.
  if (r === steps) return { steps, sent: steps, combined: size === 2 ? 1 : 2 * steps - 2 }
  const copies = 2 ** r - 1
  return {
    steps: 2 * steps - r,
    sent: (2 * (size - 1) + copies * (steps - 1)) / size,
    combined: (size - 1 + copies * (2 * steps - 2)) / size,
  }
}

/**
 * Equation 37: r* = log2(alpha / (m (beta + 2 gamma))) + log2(P / ((L - 1) ln 2)), the r at which equation 36 is
 * least; not whole.
 */
export function bestRemoved(size: number, bytes: number, { alpha, beta, gamma }: LineCost): number {
  const steps = logs(size)
  return Math.log2(alpha / (bytes * (beta + 2 * gamma))) + Math.log2(size / ((steps - 1) * Math.LN2))
}

/**
 * Recursive doubling; a size that is not 2^k first folds the ranks beyond it onto others, and copies the result back
 * to them.
 */
export function doublingTerms(size: number): Terms {
  const steps = Math.floor(Math.log2(size))
  const fold = size === 2 ** steps ? 0 : 1
  return { steps: steps + 2 * fold, sent: steps + fold, combined: steps + fold }
}

/**
 * Recursive halving and doubling (Rabenseifner), with the same fold: (2 floor(log2 P) + 2) alpha + (2 (p' - 1) / p' +
 * 2) m beta + ...
 */
export function halvingTerms(size: number): Terms {
  const steps = Math.floor(Math.log2(size))
  const core = 2 ** steps
  const fold = size === core ? 0 : 1
  return {
    steps: 2 * steps + 2 * fold,
    sent: (2 * (core - 1)) / core + 2 * fold,
    combined: (core - 1) / core + fold,
  }
}
