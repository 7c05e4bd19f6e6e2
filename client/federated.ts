/** `papilio/federated`: averages of tensors, synchronous gradients, and rounds of federated training over a group. */
import type { Group } from '../shared/collective/types.ts'
import { createRounds as createRoundsWith } from '../shared/federated/rounds.ts'
import type { RoundOptions, Rounds, Trainer } from '../shared/federated/roundTypes.ts'
import { webSecrets } from './federated/secrets.ts'

export { NonFiniteError, NoSamplesError } from '../shared/base/errors.ts'
export type { NonFinitePolicy } from '../shared/collective/types.ts'
export type { Aggregation } from '../shared/federated/aggregate.ts'
export {
  type Averaged,
  type AverageOptions,
  type AverageReport,
  averageTensors,
} from '../shared/federated/average.ts'
export type { Exclusion, Guard } from '../shared/federated/decide.ts'
export type { AveragedGradients, GradientStep } from '../shared/federated/gradientStep.ts'
export {
  createGradientAverager,
  type GradientAverager,
  type GradientOptions,
} from '../shared/federated/gradients.ts'
export type { ServerOptimizer } from '../shared/federated/optimizer.ts'
export { epsilonOf, type Privacy } from '../shared/federated/privacy.ts'
export { type Rate, rateAt } from '../shared/federated/rates.ts'
export type {
  LocalResult,
  LocalTask,
  PeerInRound,
  RoundEvents,
  RoundOptions,
  RoundPhase,
  RoundReport,
  Rounds,
  RunSummary,
  Trainer,
} from '../shared/federated/roundTypes.ts'
export type { NamedTensors, Policy, Tensor, Values } from '../shared/federated/tensors.ts'
export type { Contribution } from '../shared/federated/weights.ts'

/**
 * Rounds of federated training over a group: this peer trains, all average, again and again; members may come and go. Every member makes
 * one with the same options and calls `run`.
 *
 * ```ts
 * const rounds = createRounds(group, trainer, { rounds: 20, epochs: 2, learningRate: 0.1 })
 * rounds.on('round', ({ round, metrics }) => console.log(round, metrics.accuracy))
 * await rounds.run()
 * ```
 */
export function createRounds(group: Group, trainer: Trainer, options: RoundOptions): Rounds {
  return createRoundsWith(group, trainer, { secrets: webSecrets, ...options })
}
