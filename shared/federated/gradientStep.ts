/** One step of synchronous training: gradients in, their average out, in buckets that leave in a fixed order. */
import { ArgumentError, EpochError, NoSamplesError } from '../base/errors.ts'
import type { Group, Report } from '../collective/types.ts'
import type { Wire } from '../wire/codec.ts'
import type { Feedback } from '../wire/feedback.ts'
import type { CallOptions } from './meeting.ts'

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

/** What the steps of an averager share; bounds, epoch and feedback change when the members do. */
export interface StepContext {
  readonly group: Group
  readonly call: CallOptions
  readonly wire: Wire
  readonly count: number
  /** Where each tensor lies in the vector of all. */
  readonly places: ReadonlyMap<string, { readonly begin: number; readonly end: number }>
  /** Of the buckets. */
  readonly bounds: readonly (readonly [begin: number, end: number])[]
  readonly epoch: number
  readonly size: number
  readonly feedback: readonly Feedback[]
  /** The members have changed: they meet again. */
  meet(): Promise<unknown>
}

export class Step implements GradientStep {
  readonly #averager: StepContext
  readonly #samples: number
  readonly #onEnd: () => void
  readonly #vector: Float32Array
  readonly #ready = new Set<string>()
  /** Elements of each bucket that are still to come. */
  #missing: number[]
  #total: Promise<{ data: Float64Array; report: Report }>
  #sent: Promise<{ data: Float32Array; report: Report }>[] = []

  constructor(averager: StepContext, samples: number, onEnd: () => void) {
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
