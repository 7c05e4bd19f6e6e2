/**
 * What a rank does in an op, as actions on slots. Each has a watermark `done` (elements finished, a prefix) and may go on up to the smallest
 * watermark of the actions that it depends on. Classes of the module and not closures of an op: an op of a few hundred bytes
 * costs little more than what it sends.
 */
import { ProtocolError } from '../base/errors.ts'
import type { How } from '../schedule/types.ts'
import type { DTypeInfo, NumericArray } from '../wire/dtype.ts'
import type { Combine } from '../wire/kernels.ts'
import type { Coding } from './coding.ts'
import type { IncomingMessage, OutgoingMessage } from './dataflow.ts'

/** Where an action writes, and what stands there (maybe elsewhere: the caller's input). */
export interface Target {
  readonly out: NumericArray
  readonly current: NumericArray
}

/** What the actions of one op share. */
export class Flow {
  readonly dtype: DTypeInfo
  readonly combine: Combine
  readonly coding: Coding | undefined
  /** What elements are called as they travel. */
  readonly wireName: string
  /** Of elements before they are encoded. */
  readonly segmentBytes: number
  readonly onSendable: (message: OutgoingMessage) => void
  /** Things that are to be finished: messages, and actions that are no sends; and of each step. */
  remaining = 0
  stepsDone = 0
  readonly #remainingInStep: Int32Array
  readonly #wakes: Action[] = []
  #isRunning = false

  constructor(config: {
    dtype: DTypeInfo
    combine: Combine
    coding: Coding | undefined
    wireName: string
    segmentBytes: number
    steps: number
    onSendable(message: OutgoingMessage): void
  }) {
    this.dtype = config.dtype
    this.combine = config.combine
    this.coding = config.coding
    this.wireName = config.wireName
    this.segmentBytes = config.segmentBytes
    this.onSendable = config.onSendable
    this.#remainingInStep = new Int32Array(config.steps)
  }

  begin(step: number): void {
    this.remaining++
    this.#remainingInStep[step]!++
  }

  finish(step: number): void {
    const left = this.#remainingInStep
    this.remaining--
    left[step]!--
    while (this.stepsDone < left.length && left[this.stepsDone] === 0) this.stepsDone++
  }

  wake(action: Action): void {
    this.#wakes.push(action)
  }

  progress(action: Action, elements: number): void {
    action.done += elements
    for (const next of action.before) this.#wakes.push(next)
  }

  run(): void {
    // What an action sends may call back before it returns: the loop below goes on with what that wakes.
    if (this.#isRunning) return
    this.#isRunning = true
    for (let action = this.#wakes.pop(); action; action = this.#wakes.pop()) action.advance(action.limit)
    this.#isRunning = false
  }

  apply({ out, current }: Target, how: How, at: number, operand: NumericArray): void {
    const end = at + operand.length
    const isWhole = at === 0 && end === out.length
    const into = isWhole ? out : out.subarray(at, end)
    if (how === 'store') {
      into.set(operand as never)
      return
    }
    const held = current === out ? into : current.subarray(at, end)
    if (how === 'append') this.combine(into, held, operand)
    else this.combine(into, operand, held)
  }
}

/** Most actions of a small op wait for nothing and nobody waits for them. */
const none: readonly Action[] = []

export abstract class Action {
  readonly length: number
  done = 0
  #after: Action[] | undefined
  #before: Action[] | undefined

  constructor(length: number) {
    this.length = length
  }

  /** Actions that wait for this one. */
  get before(): readonly Action[] {
    return this.#before ?? none
  }

  /** How far the actions that this one waits for let it go. */
  get limit(): number {
    let limit = this.length
    for (const { done } of this.#after ?? none) if (done < limit) limit = done
    return limit
  }

  dependOn(earlier: Action | undefined): void {
    if (!earlier || earlier === this) return
    ;(this.#after ??= []).push(earlier)
    ;(earlier.#before ??= []).push(this)
  }

  /** Goes on as far as `limit` allows. */
  abstract advance(limit: number): void
}

/** Combines what comes for one slot. */
export class Receive extends Action {
  readonly #flow: Flow
  readonly #how: How
  readonly #step: number
  readonly #target: Target
  /** Operands that have arrived and are not applied yet, in order. */
  readonly #pending: NumericArray[] = []

  constructor(flow: Flow, length: number, how: How, step: number, write: (action: Action) => Target) {
    super(length)
    this.#flow = flow
    this.#how = how
    this.#step = step
    this.#target = write(this)
    if (length > 0) flow.begin(step)
  }

  arrived(operand: NumericArray): void {
    this.#pending.push(operand)
    this.#flow.wake(this)
  }

  advance(limit: number): void {
    const pending = this.#pending
    while (pending.length > 0 && this.done < limit) {
      const operand = pending[0]!
      const elements = Math.min(operand.length, limit - this.done)
      const isWhole = elements === operand.length
      this.#flow.apply(this.#target, this.#how, this.done, isWhole ? operand : operand.subarray(0, elements))
      if (isWhole) pending.shift()
      else pending[0] = operand.subarray(elements)
      this.#flow.progress(this, elements)
      if (this.done === this.length) this.#flow.finish(this.#step)
    }
  }
}

/** Moves or combines inside the rank. */
export class Move extends Action {
  readonly #flow: Flow
  readonly #how: How
  readonly #step: number
  readonly #operand: NumericArray
  readonly #target: Target

  constructor(
    flow: Flow,
    length: number,
    how: How,
    step: number,
    read: (action: Action) => NumericArray,
    write: (action: Action) => Target,
  ) {
    super(length)
    this.#flow = flow
    this.#how = how
    this.#step = step
    this.#operand = read(this)
    this.#target = write(this)
    if (length > 0) flow.begin(step)
  }

  advance(limit: number): void {
    if (limit <= this.done) return
    this.#flow.apply(this.#target, this.#how, this.done, this.#operand.subarray(this.done, limit))
    this.#flow.progress(this, limit - this.done)
    if (this.done === this.length) this.#flow.finish(this.#step)
  }
}

/** Replaces what a slot holds by what others decode when it is sent. */
export class Projection extends Action {
  readonly #flow: Flow
  readonly #coding: Coding
  readonly #step: number
  /** Of the slot's first element in the vector. */
  readonly #position: number
  readonly #target: Target

  constructor(
    flow: Flow,
    coding: Coding,
    length: number,
    step: number,
    position: number,
    write: (action: Action) => Target,
  ) {
    super(length)
    this.#flow = flow
    this.#coding = coding
    this.#step = step
    this.#position = position
    this.#target = write(this)
    if (length > 0) flow.begin(step)
  }

  advance(limit: number): void {
    const { done } = this
    if (limit <= done) return
    const { current, out } = this.#target
    this.#coding.project(current.subarray(done, limit), this.#position + done, out.subarray(done, limit))
    this.#flow.progress(this, limit - done)
    if (this.done === this.length) this.#flow.finish(this.#step)
  }
}

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
    length: number,
    begin: number,
    losesAt: number | undefined,
    read: (action: Action) => NumericArray,
  ) {
    super(length)
    this.#flow = flow
    this.#message = message
    this.begin = begin
    this.losesAt = losesAt
    this.memory = read(this)
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

  add(length: number, losesAt: number | undefined, read: (action: Action) => NumericArray): void {
    const part = new Read(this.#flow, this, length, this.bytes, losesAt, read)
    if (length > 0) this.#parts.push(part)
    this.bytes += length * this.#flow.dtype.bytes
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
