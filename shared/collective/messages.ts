/**
 * The messages of an op: what goes to a peer in a step, made of the slots that it reads, and what comes from one, dealt out to the actions that
 * receive it.
 */
import { ProtocolError } from '../base/errors.ts'
import type { NumericArray } from '../wire/dtype.ts'
import { Action, type Flow, type Receive, type Slots } from './actions.ts'
import type { IncomingMessage, OutgoingMessage } from './dataflow.ts'

/** The part of a message that one slot makes. */
class Read extends Action {
  readonly memory: NumericArray
  /** Its first byte in the message. */
  readonly begin: number
  /** Its elements in the vector, when sending them loses something that is to be noted. */
  readonly losesAt: number | undefined
  readonly #flow: Flow
  readonly #message: Outgoing

  constructor(
    flow: Flow,
    message: Outgoing,
    slots: Slots,
    slot: number,
    begin: number,
    losesAt: number | undefined,
  ) {
    super(slots.lengthOf(slot))
    this.#flow = flow
    this.#message = message
    this.begin = begin
    this.losesAt = losesAt
    this.memory = slots.read(this, slot)
  }

  advance(): void {
    this.#flow.onSendable(this.#message)
  }
}

export class Outgoing implements OutgoingMessage {
  readonly peer: number
  readonly step: number
  bytes = 0
  sentBytes = 0
  readonly #flow: Flow
  #isSent = false
  readonly #parts: Read[] = []
  /** First part that is not sent. */
  #at = 0

  constructor(flow: Flow, peer: number, step: number) {
    this.#flow = flow
    this.peer = peer
    this.step = step
    flow.begin(step)
  }

  add(slots: Slots, slot: number, losesAt: number | undefined): void {
    const part = new Read(this.#flow, this, slots, slot, this.bytes, losesAt)
    if (part.length > 0) this.#parts.push(part)
    this.bytes += part.length * this.#flow.dtype.bytes
  }

  get #segmentEnd(): number {
    return Math.min(this.sentBytes + this.#flow.segmentBytes, this.bytes)
  }

  nextSegment(): number {
    if (this.#isSent) return -1
    const end = this.#segmentEnd
    const { dtype, coding } = this.#flow
    for (let i = this.#at; i < this.#parts.length; i++) {
      const part = this.#parts[i]!
      if (part.begin >= end) break
      if (part.limit < Math.min(part.length, (end - part.begin) / dtype.bytes)) return -1
    }
    return coding ? coding.wireBytes(end - this.sentBytes) : end - this.sentBytes
  }

  take(target: Uint8Array): void {
    const end = this.#segmentEnd
    const flow = this.#flow
    const { coding, dtype } = flow
    const raw = coding?.raw ?? target
    while (this.#at < this.#parts.length) {
      const part = this.#parts[this.#at]!
      const { memory, begin, losesAt, done } = part
      if (begin >= end) break
      const to = Math.min(part.length, (end - begin) / dtype.bytes)
      const from = memory.byteOffset + done * dtype.bytes
      raw.set(
        new Uint8Array(memory.buffer, from, (to - done) * dtype.bytes),
        begin + done * dtype.bytes - this.sentBytes,
      )
      if (losesAt !== undefined) coding?.project(memory.subarray(done, to), losesAt + done)
      flow.progress(part, to - done)
      if (to < part.length) break
      this.#at++
    }
    coding?.encode(end - this.sentBytes, target)
    this.sentBytes = end
    if (end === this.bytes) {
      this.#isSent = true
      flow.finish(this.step)
    }
    flow.run()
  }
}

export class Incoming implements IncomingMessage {
  readonly peer: number
  readonly step: number
  bytes = 0
  arrivedBytes = 0
  isComplete = false
  readonly #flow: Flow
  readonly #parts: { begin: number; action: Receive }[] = []
  #at = 0

  constructor(flow: Flow, peer: number, step: number) {
    this.#flow = flow
    this.peer = peer
    this.step = step
    flow.begin(step)
  }

  add(action: Receive): void {
    if (action.length > 0) this.#parts.push({ begin: this.bytes, action })
    this.bytes += action.length * this.#flow.dtype.bytes
  }

  accept(offset: number, payload: Uint8Array): void {
    const { coding, dtype } = this.#flow
    if (this.isComplete || offset !== this.arrivedBytes)
      throw new ProtocolError(
        `segment at byte ${offset} of step ${this.step} from rank ${this.peer}, expected ${this.arrivedBytes}`,
      )
    const bytes = coding ? coding.rawBytesIn(payload.byteLength) : payload.byteLength
    if (bytes === undefined || bytes % dtype.bytes !== 0)
      throw new ProtocolError(`segment of ${payload.byteLength} bytes of ${this.#flow.wireName}`)
    const end = offset + bytes
    if (end > this.bytes)
      throw new ProtocolError(
        `segment ends at byte ${end} of a message of ${this.bytes} from rank ${this.peer}`,
      )
    const isAligned = payload.byteOffset % dtype.bytes === 0
    const aligned = coding ? coding.decode(payload) : isAligned ? payload : payload.slice()
    while (this.#at < this.#parts.length) {
      const { begin, action } = this.#parts[this.#at]!
      if (begin >= end) break
      const partEnd = begin + action.length * dtype.bytes
      const from = Math.max(offset, begin)
      const to = Math.min(end, partEnd)
      action.arrived(
        dtype.view(aligned.buffer, aligned.byteOffset + from - offset, (to - from) / dtype.bytes),
      )
      if (to < partEnd) break
      this.#at++
    }
    this.arrivedBytes = end
    if (end === this.bytes) {
      this.isComplete = true
      this.#flow.finish(this.step)
    }
    this.#flow.run()
  }
}
