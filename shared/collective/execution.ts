/**
 * One op while it runs on this rank: its dataflow, its messages on the lanes, what has moved when, and how it ends. It ends
 * exactly once: complete, or failed with a typed error. Driven by messages; the clock only limits and reports waiting.
 */

import type { Clock } from '../base/clock.ts'
import { createDeferred } from '../base/deferred.ts'
import type { Settings } from '../schedule/types.ts'
import type { Frame } from '../wire/frame.ts'
import { createDataflow, type Dataflow, type DataflowConfig, type OutgoingMessage } from './dataflow.ts'
import type { Lane, LaneJob } from './lane.ts'
import { type NoteFlow, withNotes } from './notes.ts'
import type { Progress, StepReport, TraceMessage } from './types.ts'
import { windowShareOf } from './windowShare.ts'

export interface ExecutionConfig {
  readonly op: number
  readonly epoch: number
  readonly signature: number
  readonly algorithm: string
  readonly settings: Settings
  readonly clock: Clock
  readonly dataflow: Omit<DataflowConfig, 'onSendable'>
  /** What the ranks note beside the data. Their bytes count, but belong to no step. */
  readonly notes?: NoteFlow | undefined
  /** Lane to a rank of the op; undefined when there is no link any more. */
  lane(rank: number): Lane | undefined
  onProgress(progress: Progress): void
  /** The caller's fold has thrown: what is combined from now on is of no use. */
  onFault(error: unknown): void
  /** The result is in: called before anything else can happen, so that a standing told from then on knows it. */
  onComplete?(): void
}

export interface Moved {
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly seconds: number
  readonly perStep: readonly StepReport[]
  readonly messages: readonly TraceMessage[]
}

export interface Execution {
  readonly op: number
  readonly epoch: number
  readonly signature: number
  readonly isSettled: boolean
  /** Seconds since the clock's origin at which something last moved. */
  readonly movedAt: number
  readonly done: Promise<Moved>
  start(): void
  /** Throws ProtocolError when the frame does not fit the schedule. */
  accept(rank: number, frame: Frame): void
  waitingFor(): { step: number; peers: readonly number[] }
  fail(error: Error): void
}

type Moment = { -readonly [Key in keyof TraceMessage]: TraceMessage[Key] }

export function createExecution(config: ExecutionConfig): Execution {
  return new OpExecution(config)
}

/** A class for the reason given at CompiledDataflow. */
class OpExecution implements Execution {
  readonly op: number
  readonly epoch: number
  readonly signature: number
  readonly steps: number
  readonly windowShare: number
  movedAt = 0
  readonly #config: ExecutionConfig
  readonly #dataflow: Dataflow
  readonly #done = createDeferred<Moved>()
  readonly #moments = new Map<number, Moment>()
  #startedAt = 0
  #bytesSent = 0
  #bytesReceived = 0
  #isStarted = false
  #isFaulty = false

  constructor(config: ExecutionConfig) {
    this.#config = config
    this.op = config.op
    this.epoch = config.epoch
    this.signature = config.signature
    this.steps = config.dataflow.part.steps.length
    this.windowShare = windowShareOf(config.dataflow.part)
    const onSendable = (message: OutgoingMessage) => this.#send(message)
    const { combine } = config.dataflow
    const data = createDataflow({
      ...config.dataflow,
      combine: (out, left, right) => {
        if (this.#isFaulty) return
        try {
          combine(out, left, right)
        } catch (error) {
          this.#isFaulty = true
          config.onFault(error)
        }
      },
      onSendable,
    })
    this.#dataflow = config.notes
      ? withNotes(data, createDataflow({ ...config.notes, onSendable }), this.steps)
      : data
  }

  get isSettled() {
    return this.#done.settled
  }

  get done() {
    return this.#done.promise
  }

  start() {
    this.#isStarted = true
    this.#startedAt = this.#config.clock.now()
    this.movedAt = this.#startedAt
    this.#dataflow.start()
    this.#settleIfComplete()
  }

  accept(rank: number, { step, offset, payload }: Frame) {
    this.#dataflow.accept(rank, step, offset, payload)
    this.moved('receive', step, rank, payload.byteLength)
  }

  waitingFor() {
    return this.#dataflow.waitingFor()
  }

  fail(error: Error) {
    if (!this.#done.settled) this.#done.reject(error)
  }

  moved(direction: TraceMessage['direction'], step: number, peer: number, bytes: number) {
    this.movedAt = this.#config.clock.now()
    if (direction === 'send') this.#bytesSent += bytes
    else this.#bytesReceived += bytes
    if (step < this.steps) this.#note(direction, step, peer, bytes)
    this.#report()
    this.#settleIfComplete()
  }

  #send(message: OutgoingMessage) {
    if (!this.#isStarted || this.#done.settled || message.nextSegment() < 0) return
    const lane = this.#config.lane(message.peer)
    if (!lane) return
    lane.enqueue(new Job(this, message))
    lane.pump()
  }

  #note(direction: TraceMessage['direction'], step: number, peer: number, bytes: number) {
    const key = (step * 0x100000 + peer) * 2 + (direction === 'send' ? 0 : 1)
    const at = this.movedAt - this.#startedAt
    const moment = this.#moments.get(key)
    if (moment) {
      moment.bytes += bytes
      moment.end = at
    } else this.#moments.set(key, { step, direction, peer, bytes, begin: at, end: at })
  }

  #report() {
    const { op, algorithm, settings, onProgress } = this.#config
    const { bytesTotal, isComplete, stepsDone } = this.#dataflow
    const bytes = this.#bytesSent + this.#bytesReceived
    onProgress({
      op,
      algorithm,
      settings,
      step: stepsDone,
      steps: this.steps,
      bytes,
      bytesTotal,
      fraction: isComplete ? 1 : bytesTotal === 0 ? 0 : bytes / bytesTotal,
    })
  }

  #settleIfComplete() {
    if (!this.#dataflow.isComplete || this.#done.settled) return
    this.#config.onComplete?.()
    const messages = [...this.#moments.values()].sort((a, b) => a.begin - b.begin)
    this.#done.resolve({
      bytesSent: this.#bytesSent,
      bytesReceived: this.#bytesReceived,
      seconds: this.#config.clock.now() - this.#startedAt,
      perStep: perStepOf(messages, this.steps),
      messages,
    })
  }
}

/** A message on its way to its lane. */
class Job implements LaneJob {
  readonly message: OutgoingMessage
  readonly #execution: OpExecution

  constructor(execution: OpExecution, message: OutgoingMessage) {
    this.#execution = execution
    this.message = message
  }

  get op() {
    return this.#execution.op
  }

  get epoch() {
    return this.#execution.epoch
  }

  get signature() {
    return this.#execution.signature
  }

  get windowShare() {
    return this.#execution.windowShare
  }

  get goesFirst() {
    return this.message.step >= this.#execution.steps
  }

  onSent(bytes: number) {
    this.#execution.moved('send', this.message.step, this.message.peer, bytes)
  }
}

/** `messages` in the order in which they began. */
function perStepOf(messages: readonly TraceMessage[], steps: number): StepReport[] {
  const reports: { -readonly [Key in keyof StepReport]: StepReport[Key] }[] = []
  for (const { step, direction, bytes, begin, end } of messages) {
    const report = (reports[step] ??= { step, bytesSent: 0, bytesReceived: 0, begin, end })
    if (direction === 'send') report.bytesSent += bytes
    else report.bytesReceived += bytes
    report.end = Math.max(report.end, end)
  }
  const idle = { bytesSent: 0, bytesReceived: 0, begin: 0, end: 0 }
  return Array.from({ length: steps }, (_, step) => reports[step] ?? { step, ...idle })
}
