/**
 * Synchronous data parallel training: every rank computes the gradients of its own batch, all step with the same average. Buckets leave as soon as
 * the gradients in them are known, while the others are still being computed (Li et al. 2020, "PyTorch Distributed").
 */
import { ArgumentError, NoSamplesError } from '../base/errors.ts'
import type { Group } from '../collective/types.ts'
import type { Wire } from '../wire/codec.ts'
import { createFeedback, type Feedback } from '../wire/feedback.ts'
import { meetAbout } from './agree.ts'
import { bucketBytesOf, bucketsOf } from './buckets.ts'
import { type AveragedGradients, type GradientStep, Step, type StepContext } from './gradientStep.ts'
import { type CallOptions, type Meeting, type Place, untilSettled } from './meeting.ts'
import { assertSamples } from './weights.ts'

export interface GradientOptions extends CallOptions {
  /** Bytes of one bucket. Default: by the measured network and computeSeconds. */
  readonly bucketBytes?: number
  /** What the gradients of a step take to compute: the longer, the more there is to hide behind it. Default: next to nothing. */
  readonly computeSeconds?: number
  /** Gradients may travel in fewer bits, with error feedback from step to step. */
  readonly wire?: Wire
  /**
   * Called on every rank whenever the members have changed, before the step is done again: the place to give newcomers the model
   * (averageModel with samples 0 on newcomers and 1 elsewhere, `within` the change).
   */
  onMembers?(change: { readonly isNewcomer: boolean; readonly within: Place }): Promise<void>
}

export interface GradientAverager {
  /** `samples`: of this rank's batch. One step at a time. */
  begin(samples: number): GradientStep
  /**
   * For a rank that has no more batches: takes part in the others' steps with weight 0 until all ranks have joined. Resolves with the number of
   * these steps. Their results come through `onStep`, so that this rank's model follows.
   */
  join(onStep?: (averaged: AveragedGradients) => void | Promise<void>): Promise<number>
}

/**
 * `sizes`: elements of each tensor, listed in the order in which their gradients are known: the last layer's first. All ranks make it
 * with the same.
 *
 * @throws {MismatchError} names, sizes or options differ; the message says where.
 */
export async function createGradientAverager(
  group: Group,
  sizes: Readonly<Record<string, number>>,
  options: GradientOptions = {},
): Promise<GradientAverager> {
  const averager = new Averager(group, sizes, options)
  await averager.meet()
  return averager
}

class Averager implements GradientAverager, StepContext {
  readonly group: Group
  readonly call: CallOptions
  readonly wire: Wire
  /** Where each tensor lies in the vector of all. */
  readonly places = new Map<string, { readonly begin: number; readonly end: number }>()
  readonly count: number
  bounds: readonly (readonly [begin: number, end: number])[] = []
  epoch = 0
  feedback: readonly Feedback[] = []
  readonly #options: GradientOptions
  #meeting: Meeting | undefined
  #isNewcomer = true
  #step: Step | undefined

  constructor(group: Group, sizes: Readonly<Record<string, number>>, options: GradientOptions) {
    let at = 0
    for (const [name, size] of Object.entries(sizes)) {
      if (!Number.isSafeInteger(size) || size < 0)
        throw new ArgumentError('sizes', `Tensor '${name}': pass its number of elements, not ${size}.`)
      this.places.set(name, { begin: at, end: at + size })
      at += size
    }
    const { timeoutMs, signal, wire = 'f32' } = options
    this.group = group
    this.count = at
    this.wire = wire
    this.call = { ...(timeoutMs !== undefined && { timeoutMs }), ...(signal && { signal }) }
    this.#options = options
  }

  meet(): Promise<true> {
    const { group, count } = this
    const { computeSeconds, bucketBytes, onMembers } = this.#options
    const proposal = bucketBytes ?? bucketBytesOf(4 * count, group.size, group.model, computeSeconds)
    const manifest = [
      `wire|${this.wire}`,
      ...[...this.places].map(([name, { begin, end }]) => `${name}|${end - begin} elements at ${begin}`),
    ]
    const about = { name: 'gradients', what: 'gradients', manifest: manifest.join('\n') }
    return untilSettled(async () => {
      const isNewcomer = this.#isNewcomer
      const meeting = await meetAbout(group, about, [proposal, Number(isNewcomer)], this.call)
      this.#meeting = meeting
      this.epoch = meeting.epoch
      this.bounds = bucketsOf(count, 4, meeting.present[0]!.record[0]!)
      this.feedback = this.wire === 'f32' ? [] : this.bounds.map(createFeedback)
      const isFirst = meeting.present.every(({ record }) => record[1] === 1)
      if (!isFirst) await onMembers?.({ isNewcomer, within: meeting })
      // Only now: when the members change while it gets the model, it is a newcomer still.
      this.#isNewcomer = false
      return true as const
    })
  }

  get size() {
    return this.#meeting!.members.length
  }

  begin(samples: number): Step {
    assertSamples(samples)
    if (this.#step)
      throw new ArgumentError('begin', 'The step before has not finished: await its finish() first.')
    this.#step = new Step(this, samples, () => {
      this.#step = undefined
    })
    return this.#step
  }

  async join(onStep: (averaged: AveragedGradients) => void | Promise<void> = () => {}) {
    for (let steps = 0; ; steps++) {
      const step = this.begin(0)
      for (const [name, { begin, end }] of this.places) step.ready(name, new Float32Array(end - begin))
      try {
        await onStep(await step.finish())
      } catch (error) {
        if (error instanceof NoSamplesError) return steps
        throw error
      }
    }
  }
}
