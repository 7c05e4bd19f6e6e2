/** `papilio/federated`: averages of tensors, synchronous gradients, and rounds of federated training over a group. */
export { NonFiniteError, NoSamplesError } from '../shared/base/errors.ts'
export type { Aggregation } from '../shared/federated/aggregate.ts'
export {
  type Averaged,
  type AverageOptions,
  type AverageReport,
  averageTensors,
} from '../shared/federated/average.ts'
export type { Exclusion, Guard } from '../shared/federated/decide.ts'
export type { ServerOptimizer } from '../shared/federated/optimizer.ts'
export { type Rate, rateAt } from '../shared/federated/rates.ts'
export { createRounds } from '../shared/federated/rounds.ts'
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
export type { Contribution, NonFinitePolicy } from '../shared/federated/weights.ts'
