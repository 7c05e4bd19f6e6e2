/**
 * One op while it runs on this rank: its dataflow, its messages on the lanes, what has moved when, and how it ends. It ends
 * exactly once: complete, or failed with a typed error. Driven by messages; the clock only limits and reports waiting.
 */

import type { Clock } from '../base/clock.ts'
import { createDeferred } from '../base/deferred.ts'
import type { Settings } from '../schedule/types.ts'
import type { Frame } from '../wire/frame.ts'
import { createDataflow, type Dataflow, type DataflowConfig, type OutgoingMessage } from './dataflow.ts'
import type { Lane } from './lane.ts'
import { type NoteFlow, withNotes } from './notes.ts'
import type { Progress, StepReport, TraceMessage } from './types.ts'

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
  const { clock, op, epoch, signature } = config
  const done = createDeferred<Moved>()
  const moments = new Map<number, Moment>()
  let startedAt = 0
  let movedAt = 0
  let bytesSent = 0
  let bytesReceived = 0
  let isStarted = false

  const steps = config.dataflow.part.steps.length
  const report = () => {
    const bytes = bytesSent + bytesReceived
    const bytesTotal = dataflow.bytesTotal
    config.onProgress({
      op,
      algorithm: config.algorithm,
      settings: config.settings,
      step: dataflow.stepsDone,
      steps,
      bytes,
      bytesTotal,
      fraction: dataflow.isComplete ? 1 : bytesTotal === 0 ? 0 : bytes / bytesTotal,
    })
  }
  const moved = (direction: TraceMessage['direction'], step: number, peer: number, bytes: number) => {
    movedAt = clock.now()
    const at = movedAt - startedAt
    if (direction === 'send') bytesSent += bytes
    else bytesReceived += bytes
    if (step < steps) note(direction, step, peer, bytes, at)
    report()
    settleIfComplete()
  }
  const note = (
    direction: TraceMessage['direction'],
    step: number,
    peer: number,
    bytes: number,
    at: number,
  ) => {
    const key = (step * 0x100000 + peer) * 2 + (direction === 'send' ? 0 : 1)
    const moment = moments.get(key)
    if (moment) {
      moment.bytes += bytes
      moment.end = at
    } else moments.set(key, { step, direction, peer, bytes, begin: at, end: at })
  }
  const settleIfComplete = () => {
    if (!dataflow.isComplete || done.settled) return
    config.onComplete?.()
    const messages = [...moments.values()].sort((a, b) => a.begin - b.begin)
    done.resolve({
      bytesSent,
      bytesReceived,
      seconds: clock.now() - startedAt,
      perStep: perStepOf(messages, steps),
      messages,
    })
  }

  const jobOf = (message: OutgoingMessage) => ({
    op,
    epoch,
    signature,
    message,
    goesFirst: message.step >= steps,
    onSent: (bytes: number) => moved('send', message.step, message.peer, bytes),
  })
  let isFaulty = false
  const { combine } = config.dataflow
  const onSendable = (message: OutgoingMessage) => {
    if (!isStarted || done.settled || message.nextSegment() < 0) return
    const lane = config.lane(message.peer)
    lane?.enqueue(jobOf(message))
    lane?.pump()
  }
  const data = createDataflow({
    ...config.dataflow,
    combine(out, left, right) {
      if (isFaulty) return
      try {
        combine(out, left, right)
      } catch (error) {
        isFaulty = true
        config.onFault(error)
      }
    },
    onSendable,
  })
  const dataflow: Dataflow = config.notes
    ? withNotes(data, createDataflow({ ...config.notes, onSendable }), steps)
    : data

  return {
    op,
    epoch,
    signature,
    get isSettled() {
      return done.settled
    },
    get movedAt() {
      return movedAt
    },
    done: done.promise,
    start() {
      isStarted = true
      startedAt = clock.now()
      movedAt = startedAt
      dataflow.start()
      settleIfComplete()
    },
    accept(rank, frame) {
      dataflow.accept(rank, frame.step, frame.offset, frame.payload)
      moved('receive', frame.step, rank, frame.payload.byteLength)
    },
    waitingFor: () => dataflow.waitingFor(),
    fail(error) {
      if (!done.settled) done.reject(error)
    },
  }
}

function perStepOf(messages: readonly TraceMessage[], steps: number): StepReport[] {
  const reports: StepReport[] = []
  for (let step = 0; step < steps; step++) {
    const mine = messages.filter((message) => message.step === step)
    const sum = (direction: TraceMessage['direction']) =>
      mine.reduce((bytes, message) => bytes + (message.direction === direction ? message.bytes : 0), 0)
    reports.push({
      step,
      bytesSent: sum('send'),
      bytesReceived: sum('receive'),
      begin: mine.reduce((least, message) => Math.min(least, message.begin), mine[0]?.begin ?? 0),
      end: mine.reduce((most, message) => Math.max(most, message.end), 0),
    })
  }
  return reports
}
