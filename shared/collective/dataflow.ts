/**
 * One rank's part of a schedule as an element-wise pipeline. There is no barrier between steps: every send, receive and local of the
 * schedule is an action on one slot with a watermark `done` (elements finished, a prefix), and an action may go on up to
 * the smallest watermark of the actions that it depends on. So a segment leaves as soon as its last operand is in, and
 * operands meet in the order that the schedule fixed, whatever the order of arrival.
 *
 * Dependencies on one slot: an action that reads needs the last write; an action that writes needs the last write and all
 * reads since (of the same memory). The caller's input is only ever read. Knows neither links nor time.
 *
 * Memory beyond input and result: the slots that are neither (at most one vector for r >= 1, a chunk or nothing at r = 0), and
 * frames that came before their operands.
 */
import { ProtocolError } from '../base/errors.ts'
import type { RankSchedule } from '../schedule/types.ts'
import type { Codec, FloatArray } from '../wire/codec.ts'
import type { DTypeInfo, NumericArray } from '../wire/dtype.ts'
import type { Combine } from '../wire/kernels.ts'
import { type Action, Flow, Move, Projection, Receive } from './actions.ts'
import { type Coding, createCoding, findLastingSends } from './coding.ts'
import { Incoming, Outgoing } from './messages.ts'
import { SlotMemory } from './slotMemory.ts'

/** A message to `peer`: the concatenation of slots, cut into segments on a fixed grid. */
export interface OutgoingMessage {
  readonly peer: number
  readonly step: number
  /** Of its elements, before they are encoded: what offsets count. */
  readonly bytes: number
  readonly sentBytes: number
  /** Bytes of the next segment on the wire, when all its operands are in; -1 when they are not (or all is sent). */
  nextSegment(): number
  /** Copies the next segment to `target` (of nextSegment() bytes) and counts it as sent. */
  take(target: Uint8Array): void
}

export interface IncomingMessage {
  readonly peer: number
  readonly step: number
  readonly bytes: number
  readonly arrivedBytes: number
  readonly isComplete: boolean
}

export interface DataflowConfig {
  part: RankSchedule
  /** Chunk c is elements offsets[c] .. offsets[c + 1]. */
  offsets: ArrayLike<number>
  dtype: DTypeInfo
  combine: Combine
  /** The chunks of `part.input` in chunk order, one after the other. */
  input: NumericArray
  /** Receives the chunks of `part.output` in chunk order. */
  result: NumericArray
  /** On the wire. */
  segmentBytes: number
  /** How elements travel, if not as they are; chunks are whole blocks of it. */
  codec?: Codec | undefined
  /** Gets what this rank rounds away, element by element of the vector. Chunk c is at offsets[c]. */
  residual?: FloatArray | undefined
  /** A message may have become able to send its next segment. */
  onSendable(message: OutgoingMessage): void
}

export interface Dataflow {
  readonly outgoing: readonly OutgoingMessage[]
  readonly incoming: readonly IncomingMessage[]
  /** On the wire. */
  readonly bytesTotal: number
  readonly isComplete: boolean
  /** Leading steps that are complete. */
  readonly stepsDone: number
  /** Announces what can be sent from the start. */
  start(): void
  /** Takes a segment. Throws ProtocolError for what the schedule does not expect. The payload must not be written afterwards. */
  accept(peer: number, step: number, offset: number, payload: Uint8Array): void
  /** The smallest step with a message that has not come, and who owes it. */
  waitingFor(): { step: number; peers: readonly number[] }
}

export function createDataflow(config: DataflowConfig): Dataflow {
  return new CompiledDataflow(config)
}

/**
 * A class, and not an object made of closures: each object literal with a getter has a hidden class of its own, which keeps
 * the whole op from being collected cheaply, and small ops are made of little else.
 */
class CompiledDataflow implements Dataflow {
  readonly outgoing: OutgoingMessage[] = []
  readonly incoming: Incoming[] = []
  readonly bytesTotal: number
  readonly #flow: Flow
  readonly #steps: number
  readonly #byKey = new Map<number, Incoming>()
  /** Wait for nothing that comes from outside. */
  readonly #inner: Action[] = []

  constructor(config: DataflowConfig) {
    const { part, offsets, dtype, codec } = config
    const count = offsets[offsets.length - 1]!
    const coding = codec && createCoding(codec, dtype, count, config.segmentBytes, config.residual)
    const flow = new Flow({
      dtype,
      combine: config.combine,
      coding,
      wireName: codec?.name ?? dtype.name,
      segmentBytes: coding?.segmentBytes ?? config.segmentBytes,
      steps: part.steps.length,
      onSendable: config.onSendable,
    })
    this.#flow = flow
    this.#steps = part.steps.length
    const memory = new SlotMemory(config)

    const lastingSends = coding && findLastingSends(part)
    for (let index = 0; index < part.steps.length; index++) {
      const { sends, receives, locals } = part.steps[index]!
      if (coding) for (const slot of lastingSends?.[index] ?? []) this.#project(memory, coding, slot, index)
      for (const { to, slots } of sends) {
        const message = new Outgoing(flow, to, index)
        for (const slot of slots) {
          const isLossy = coding && config.residual && !memory.projected.has(slot)
          message.add(memory, slot, isLossy ? memory.positionOf(slot) : undefined)
        }
        this.outgoing.push(message)
      }
      for (const { from, slots, how } of receives) {
        const message = new Incoming(flow, from, index)
        for (const slot of slots) {
          message.add(new Receive(flow, memory, slot, how, index))
          memory.noteWrite(slot, how === 'store')
        }
        this.incoming.push(message)
        this.#byKey.set(keyOf(from, index), message)
      }
      for (const { from, slot, how } of locals) {
        const move = new Move(flow, memory, from, slot, how, index)
        if (move.length > 0) this.#inner.push(move)
        memory.noteWrite(slot, how === 'store' && memory.projected.has(from))
      }
    }
    if (coding)
      for (const slot of part.output) this.#project(memory, coding, slot, Math.max(0, part.steps.length - 1))
    memory.finish()

    let bytesTotal = 0
    for (const { bytes } of this.outgoing) bytesTotal += coding?.wireBytes(bytes) ?? bytes
    for (const { bytes } of this.incoming) bytesTotal += coding?.wireBytes(bytes) ?? bytes
    this.bytesTotal = bytesTotal
  }

  get isComplete() {
    return this.#flow.remaining === 0
  }

  get stepsDone() {
    return this.#flow.stepsDone
  }

  start() {
    for (const message of this.outgoing) this.#flow.onSendable(message)
    for (const action of this.#inner) this.#flow.wake(action)
    this.#flow.run()
  }

  accept(peer: number, step: number, offset: number, payload: Uint8Array) {
    const message = this.#byKey.get(keyOf(peer, step))
    if (!message)
      throw new ProtocolError(`rank ${peer} sent a message of step ${step} that the schedule does not have`)
    message.accept(offset, payload)
  }

  waitingFor() {
    const missing = this.incoming.filter((message) => !message.isComplete)
    const step = missing.reduce((least, message) => Math.min(least, message.step), this.#steps)
    return { step, peers: missing.filter((message) => message.step === step).map((message) => message.peer) }
  }

  #project(memory: SlotMemory, coding: Coding, slot: number, step: number) {
    if (memory.projected.has(slot)) return
    const projection = new Projection(this.#flow, memory, coding, slot, step)
    memory.noteWrite(slot, true)
    if (projection.length > 0) this.#inner.push(projection)
  }
}

const keyOf = (peer: number, step: number) => step * 0x100000 + peer
