/** A member's training of one round, for as long as its time lasts, and what it brings to the meeting afterwards. */
import type { Clock } from '../base/clock.ts'
import type { RunState } from './checkpoint.ts'
import { makePrivate } from './privacy.ts'
import { rateAt } from './rates.ts'
import { updateFrom } from './replica.ts'
import type { LocalResult, LocalTask, RoundOptions, Trainer } from './roundTypes.ts'
import { entriesOf } from './tensors.ts'
import { restingTurn, type Turn, trainedTurn } from './turn.ts'
import { assertSamples } from './weights.ts'

export interface Training {
  readonly trainer: Trainer
  readonly options: RoundOptions
  readonly clock: Clock
  /** Ends the training early: at a stop, or here when the time is up. */
  readonly controller: AbortController
  /** The trainer has thrown: its turn counts for nothing. */
  onError(error: unknown): void
}

const defaults = { epochs: 1, learningRate: 0.1 }

export async function trainAlone(training: Training, state: RunState): Promise<Turn> {
  const { trainer, clock, controller } = training
  const { localSeconds, epochs, learningRate, proximal = 0, privacy, secrets } = training.options
  const cancel = localSeconds === undefined ? () => {} : clock.after(localSeconds, () => controller.abort())
  const begin = clock.now()
  const trained = await attempt(training, {
    round: state.round,
    epochs: rateAt(epochs ?? defaults.epochs, state.round),
    learningRate: rateAt(learningRate ?? defaults.learningRate, state.round),
    proximal,
    reference: Object.fromEntries(state.model),
    signal: controller.signal,
  })
  cancel()
  const trainSeconds = clock.now() - begin
  const entries = entriesOf(await trainer.read())
  if (!trained) return restingTurn(entries, { hasTurn: true, hasFailed: true, trainSeconds })
  const { samples, metrics = {} } = trained
  const update = updateFrom(state, entries)
  if (privacy && secrets) makePrivate(update, privacy, secrets)
  return trainedTurn(entries, update, { samples, metrics, trainSeconds })
}

async function attempt({ trainer, onError }: Training, task: LocalTask): Promise<LocalResult | undefined> {
  try {
    const result = await trainer.train(task)
    assertSamples(result.samples)
    return result
  } catch (error) {
    onError(error)
    return undefined
  }
}
