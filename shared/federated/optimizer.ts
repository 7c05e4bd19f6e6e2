/**
 * From the averaged update of a round to the next model: Algorithm 2 of Reddi et al. 2021, "Adaptive Federated Optimization", computed by
 * every rank for itself. Only + - * / and square roots, which IEEE 754 rounds the same everywhere: equal inputs stay equal bits.
 */
import { ArgumentError } from '../base/errors.ts'
import { type Rate, rateAt } from './rates.ts'

export type ServerOptimizer =
  /** x += rate * update. With rate 1 (default) this is FedAvg. */
  | { readonly kind: 'average'; readonly rate?: Rate }
  /** m = momentum * m + update; x += rate * m (FedAvgM). Default 0.9. */
  | { readonly kind: 'momentum'; readonly rate?: Rate; readonly momentum?: number }
  /**
   * m = b1 m + (1 - b1) u, v = b2 v + (1 - b2) u^2 (yogi: v -= (1 - b2) u^2 sign(v - u^2)), x += rate * m / (sqrt(v) + tau). Defaults: rate 0.01,
   * b1 0.9, b2 0.99, tau 0.001; v begins at tau^2.
   */
  | {
      readonly kind: 'adam' | 'yogi'
      readonly rate?: Rate
      readonly beta1?: number
      readonly beta2?: number
      readonly tau?: number
    }

/** The moments, of as many elements as the model; empty where the optimizer has none. */
export interface OptimizerState {
  readonly first: Float64Array
  readonly second: Float64Array
}

export function startOptimizer(optimizer: ServerOptimizer, count: number): OptimizerState {
  const none = new Float64Array(0)
  switch (optimizer.kind) {
    case 'average':
      return { first: none, second: none }
    case 'momentum':
      return { first: new Float64Array(count), second: none }
    case 'adam':
    case 'yogi': {
      const { tau = defaults.tau } = optimizer
      return { first: new Float64Array(count), second: new Float64Array(count).fill(tau * tau) }
    }
    default:
      throw new ArgumentError('optimizer', `Use 'average', 'momentum', 'adam' or 'yogi'.`)
  }
}

const defaults = { rate: 0.01, momentum: 0.9, beta1: 0.9, beta2: 0.99, tau: 0.001 }

/** The step that leads from the model to the next one, and the next state; nothing is changed in place. */
export function optimizerStep(
  optimizer: ServerOptimizer,
  { first, second }: OptimizerState,
  update: Float32Array,
  round: number,
): { step: Float64Array; state: OptimizerState } {
  const step = new Float64Array(update.length)
  if (optimizer.kind === 'average') {
    const rate = rateAt(optimizer.rate ?? 1, round)
    for (let i = 0; i < step.length; i++) step[i] = rate * update[i]!
    return { step, state: { first, second } }
  }
  const m = new Float64Array(first)
  if (optimizer.kind === 'momentum') {
    const { momentum = defaults.momentum } = optimizer
    const rate = rateAt(optimizer.rate ?? 1, round)
    for (let i = 0; i < step.length; i++) {
      m[i] = momentum * m[i]! + update[i]!
      step[i] = rate * m[i]!
    }
    return { step, state: { first: m, second } }
  }
  const { kind, beta1 = defaults.beta1, beta2 = defaults.beta2, tau = defaults.tau } = optimizer
  const rate = rateAt(optimizer.rate ?? defaults.rate, round)
  const v = new Float64Array(second)
  for (let i = 0; i < step.length; i++) {
    const u = update[i]!
    const square = u * u
    m[i] = beta1 * m[i]! + (1 - beta1) * u
    v[i] =
      kind === 'adam'
        ? beta2 * v[i]! + (1 - beta2) * square
        : v[i]! - (1 - beta2) * square * Math.sign(v[i]! - square)
    step[i] = (rate * m[i]!) / (Math.sqrt(v[i]!) + tau)
  }
  return { step, state: { first: m, second: v } }
}
