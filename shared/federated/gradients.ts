/**
 * Synchronous data parallel training: every rank computes the gradients of its own batch, all step with the same average. Buckets leave as soon as
 * the gradients in them are known, while the others are still being computed (Li et al. 2020, "PyTorch Distributed").
 */
import { ArgumentError, EpochError, NoSamplesError } from '../base/errors.ts'
import type { Group, Report } from '../collective/types.ts'
import type { Wire } from '../wire/codec.ts'
import { createFeedback, type Feedback } from '../wire/feedback.ts'
import { meetAbout } from './agree.ts'
import { bucketBytesOf, bucketsOf } from './buckets.ts'
import type { CallOptions, Meeting } from './meeting.ts'
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
   * (averageModel with samples 0 on newcomers and 1 elsewhere).
   */
  onMembers?(change: { readonly isNewcomer: boolean; readonly size: number }): Promise<void>
}

export interface AveragedGradients {
  /** By name: sum(samples * gradient) / sum(samples), the same bits on every rank. */
  readonly gradients: Readonly<Record<string, Float32Array>>
  /** Of all ranks together. */
  readonly samples: number
  readonly reports: readonly Report[]
}

export interface GradientStep {
  /** The mean gradient of this tensor over this rank's batch. Its values are taken at once. */
  ready(name: string, gradient: Float32Array): void
  /** Once all tensors are ready. @throws {NoSamplesError} no rank had a batch. */
  finish(): Promise<AveragedGradients>
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

class Averager implements GradientAverager {
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

  async meet(): Promise<void> {
    const { group, count } = this
    const { computeSeconds, bucketBytes, onMembers } = this.#options
    const isNewcomer = this.#meeting === undefined
    const proposal = bucketBytes ?? bucketBytesOf(4 * count, group.size, group.model, computeSeconds)
    const manifest = [
      `wire|${this.wire}`,
      ...[...this.places].map(([name, { begin, end }]) => `${name}|${end - begin} elements at ${begin}`),
    ]
    const about = { name: 'gradients', what: 'gradients', manifest: manifest.join('\n') }
    const meeting = await meetAbout(group, about, [proposal, Number(isNewcomer)], this.call)
    this.#meeting = meeting
    this.epoch = meeting.epoch
    this.bounds = bucketsOf(count, 4, meeting.present[0]!.record[0]!)
    this.feedback = this.wire === 'f32' ? [] : this.bounds.map(createFeedback)
    const isFirst = meeting.present.every(({ record }) => record[1] === 1)
    if (!isFirst) await onMembers?.({ isNewcomer, size: meeting.members.length })
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

class Step implements GradientStep {
  readonly #averager: Averager
  readonly #samples: number
  readonly #onEnd: () => void
  readonly #vector: Float32Array
  readonly #ready = new Set<string>()
  /** Elements of each bucket that are still to come. */
  #missing: number[]
  #total: Promise<{ data: Float64Array; report: Report }>
  #sent: Promise<{ data: Float32Array; report: Report }>[] = []

  constructor(averager: Averager, samples: number, onEnd: () => void) {
    this.#averager = averager
    this.#samples = samples
    this.#onEnd = onEnd
    this.#vector = new Float32Array(averager.count)
    this.#missing = averager.bounds.map(([begin, end]) => end - begin)
    this.#total = this.#sumSamples()
  }

  ready(name: string, gradient: Float32Array) {
    const place = this.#averager.places.get(name)
    if (!place || gradient.length !== place.end - place.begin)
      throw new ArgumentError(
        'name',
        `There is no gradient '${name}' of ${gradient.length} elements in this averager.`,
      )
    if (this.#ready.has(name))
      throw new ArgumentError('name', `The gradient '${name}' was ready already in this step.`)
    this.#ready.add(name)
    for (let i = 0; i < gradient.length; i++) this.#vector[place.begin + i] = this.#samples * gradient[i]!
    for (const [index, [begin, end]] of this.#averager.bounds.entries())
      this.#missing[index]! -= Math.max(0, Math.min(end, place.end) - Math.max(begin, place.begin))
    this.#send()
  }

  async finish(): Promise<AveragedGradients> {
    const { places } = this.#averager
    const absent = [...places.keys()].filter((name) => !this.#ready.has(name))
    if (absent.length > 0)
      throw new ArgumentError('finish', `These gradients are not ready: ${absent.join(', ')}.`)
    try {
      for (;;) {
        const result = await this.#collect()
        if (result) return result
        // The members have changed: they meet, newcomers among them, and all do the step from its beginning.
        await this.#averager.meet()
        this.#missing = this.#averager.bounds.map(() => 0)
        this.#total = this.#sumSamples()
        this.#sent = []
        this.#send()
      }
    } finally {
      this.#onEnd()
    }
  }

  #sumSamples() {
    const { group, call, epoch } = this.#averager
    const sum = group.allreduce(Float64Array.of(this.#samples), {
      ...call,
      epoch,
      name: 'gradients: samples',
    })
    // Whoever finishes the step sees the error.
    sum.catch(() => {})
    return sum
  }

  /** Buckets leave in their order, which is the same on all ranks. */
  #send() {
    const { group, call, epoch, wire, bounds, feedback } = this.#averager
    while (this.#sent.length < bounds.length && this.#missing[this.#sent.length] === 0) {
      const index = this.#sent.length
      const [begin, end] = bounds[index]!
      const sum = group.allreduce(this.#vector.subarray(begin, end), {
        ...call,
        epoch,
        wire,
        ...(feedback[index] && { feedback: feedback[index] }),
        name: `gradients: ${begin}`,
      })
      sum.catch(() => {})
      this.#sent.push(sum)
    }
  }

  /** Undefined, on all ranks alike: the members have changed on the way. */
  async #collect(): Promise<AveragedGradients | undefined> {
    const ended = await Promise.allSettled([this.#total, ...this.#sent])
    const errors = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    const serious = errors.find((error) => !(error instanceof EpochError))
    if (serious) throw serious
    if (errors.length > 0) return undefined
    const { data, report } = await this.#total
    const sums = await Promise.all(this.#sent)
    const reports = [report, ...sums.map((sum) => sum.report)]
    if (reports.some(({ contributors }) => contributors.length !== this.#averager.size)) return undefined
    const samples = data[0]!
    if (samples === 0) throw new NoSamplesError()
    const result = new Float32Array(this.#vector.length)
    for (const [index, sum] of sums.entries()) result.set(sum.data, this.#averager.bounds[index]![0])
    for (let i = 0; i < result.length; i++) result[i] = result[i]! / samples
    const gradients = [...this.#averager.places].map(
      ([name, { begin, end }]) => [name, result.subarray(begin, end)] as const,
    )
    return { gradients: Object.fromEntries(gradients), samples, reports }
  }
}
