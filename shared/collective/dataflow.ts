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
import { assert } from '../base/assert.ts'
import { ProtocolError } from '../base/errors.ts'
import type { How, RankSchedule } from '../schedule/types.ts'
import type { Codec, FloatArray } from '../wire/codec.ts'
import type { DTypeInfo, NumericArray } from '../wire/dtype.ts'
import type { Combine } from '../wire/kernels.ts'
import { type Coding, createCoding, findLastingSends } from './coding.ts'

interface Action {
  readonly length: number
  done: number
  readonly after: Action[]
  readonly before: Action[]
  /** Goes on as far as `limit` allows. */
  advance(limit: number): void
}

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
  /** Bytes allocated for slots that are neither input nor result. */
  readonly scratchBytes: number
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
  const { part, offsets, dtype, combine, codec } = config
  const coding = codec && createCoding(codec, dtype, config.segmentBytes, config.residual)
  const segmentBytes = coding?.segmentBytes ?? config.segmentBytes
  const wireBytes = coding?.wireBytes ?? ((bytes: number) => bytes)
  const positionOf = (slot: number) => offsets[part.slots[slot]!]!
  const lengthOf = (slot: number) => {
    const chunk = part.slots[slot]!
    return offsets[chunk + 1]! - offsets[chunk]!
  }
  const inputs = placeChunks(part, part.input, lengthOf)
  const outputs = placeChunks(part, part.output, lengthOf)
  assert(
    config.input.length === inputs.length,
    'input has the length of the chunks that the rank contributes',
  )
  assert(
    config.result.length === outputs.length,
    'result has the length of the chunks that the rank ends with',
  )

  let scratchBytes = 0
  const storage: (NumericArray | undefined)[] = []
  const storageOf = (slot: number): NumericArray => {
    let memory = storage[slot]
    if (!memory) {
      const at = outputs.at.get(slot)
      const length = lengthOf(slot)
      if (at !== undefined) memory = config.result.subarray(at, at + length)
      else {
        memory = dtype.create(length)
        scratchBytes += length * dtype.bytes
      }
      storage[slot] = memory
    }
    return memory
  }

  // The state of each slot while the schedule is compiled: its memory, the last write and the reads since.
  const value: (NumericArray | undefined)[] = []
  const written: (Action | undefined)[] = []
  const reads: Action[][] = []
  /** With a codec: slots that hold what others decode when it is sent. */
  const projected = new Set<number>()
  const noteWrite = (slot: number, isProjected: boolean) => {
    if (isProjected) projected.add(slot)
    else projected.delete(slot)
  }
  for (const slot of part.input) {
    const at = inputs.at.get(slot)!
    value[slot] = config.input.subarray(at, at + lengthOf(slot))
  }

  let remaining = 0
  const remainingInStep = new Int32Array(part.steps.length)
  let stepsDone = 0
  const finishOne = (step: number) => {
    remaining--
    remainingInStep[step]!--
    while (stepsDone < remainingInStep.length && remainingInStep[stepsDone] === 0) stepsDone++
  }
  const beginOne = (step: number) => {
    remaining++
    remainingInStep[step]!++
  }

  const wakes: Action[] = []
  let isRunning = false
  const progress = (action: Action, elements: number) => {
    action.done += elements
    for (const next of action.before) wakes.push(next)
  }
  const run = () => {
    if (isRunning) return
    isRunning = true
    for (let action = wakes.pop(); action; action = wakes.pop()) action.advance(limitOf(action))
    isRunning = false
  }

  const readOf = (action: Action, slot: number): NumericArray => {
    const memory = value[slot]
    assert(memory, `slot ${slot} holds nothing`)
    depend(action, written[slot])
    // Reading the caller's input never stands in the way: it is not written.
    if (memory === storage[slot]) (reads[slot] ??= []).push(action)
    return memory
  }
  /** Makes `action` the next writer of `slot`: returns where to write and what stands there. */
  const writeOf = (action: Action, slot: number, how: How): { out: NumericArray; current: NumericArray } => {
    const out = storageOf(slot)
    const current = value[slot]
    depend(action, written[slot])
    for (const read of reads[slot] ?? []) depend(action, read)
    assert(how === 'store' || current, `slot ${slot} holds nothing to combine with`)
    reads[slot] = []
    written[slot] = action
    value[slot] = out
    return { out, current: current ?? out }
  }
  const apply = (
    target: { out: NumericArray; current: NumericArray },
    how: How,
    at: number,
    operand: NumericArray,
  ) => {
    const end = at + operand.length
    const out = target.out.subarray(at, end)
    if (how === 'store') out.set(operand as never)
    else if (how === 'append') combine(out, target.current.subarray(at, end), operand)
    else combine(out, operand, target.current.subarray(at, end))
  }

  const outgoing: Outgoing[] = []
  const incoming = new Map<number, Incoming>()
  const keyOf = (peer: number, step: number) => step * 0x100000 + peer

  class Outgoing implements OutgoingMessage {
    readonly peer: number
    readonly step: number
    readonly bytes: number
    sentBytes = 0
    #isSent = false
    readonly #parts: {
      action: Action
      memory: NumericArray
      begin: number
      /** Its elements in the vector, when sending them loses something that is to be noted. */
      losesAt: number | undefined
    }[] = []
    /** First part that is not sent. */
    #at = 0

    constructor(peer: number, step: number, slots: readonly number[]) {
      this.peer = peer
      this.step = step
      let bytes = 0
      for (const slot of slots) {
        const length = lengthOf(slot)
        const action: Action = {
          length,
          done: 0,
          after: [],
          before: [],
          advance: () => config.onSendable(this),
        }
        const memory = readOf(action, slot)
        const losesAt = coding && config.residual && !projected.has(slot) ? positionOf(slot) : undefined
        if (length > 0) this.#parts.push({ action, memory, begin: bytes, losesAt })
        bytes += length * dtype.bytes
      }
      this.bytes = bytes
      beginOne(step)
    }

    nextSegment(): number {
      if (this.#isSent) return -1
      const end = Math.min(this.sentBytes + segmentBytes, this.bytes)
      for (let i = this.#at; i < this.#parts.length; i++) {
        const { action, begin } = this.#parts[i]!
        if (begin >= end) break
        const needed = Math.min(action.length, (end - begin) / dtype.bytes)
        if (limitOf(action) < needed) return -1
      }
      return wireBytes(end - this.sentBytes)
    }

    take(target: Uint8Array): void {
      const end = Math.min(this.sentBytes + segmentBytes, this.bytes)
      const raw = coding?.raw ?? target
      while (this.#at < this.#parts.length) {
        const { action, memory, begin, losesAt } = this.#parts[this.#at]!
        if (begin >= end) break
        const to = Math.min(action.length, (end - begin) / dtype.bytes)
        const bytes = new Uint8Array(
          memory.buffer,
          memory.byteOffset + action.done * dtype.bytes,
          (to - action.done) * dtype.bytes,
        )
        raw.set(bytes, begin + action.done * dtype.bytes - this.sentBytes)
        if (losesAt !== undefined) coding?.project(memory.subarray(action.done, to), losesAt + action.done)
        progress(action, to - action.done)
        if (to < action.length) break
        this.#at++
      }
      coding?.encode(end - this.sentBytes, target)
      this.sentBytes = end
      if (end === this.bytes) {
        this.#isSent = true
        finishOne(this.step)
      }
      run()
    }
  }

  class Incoming implements IncomingMessage {
    readonly peer: number
    readonly step: number
    readonly bytes: number
    arrivedBytes = 0
    isComplete = false
    readonly #parts: { begin: number; action: ReceiveAction }[] = []
    #at = 0

    constructor(peer: number, step: number, slots: readonly number[], how: How) {
      this.peer = peer
      this.step = step
      let bytes = 0
      for (const slot of slots) {
        const action = new ReceiveAction(slot, how, step)
        if (action.length > 0) this.#parts.push({ begin: bytes, action })
        bytes += action.length * dtype.bytes
      }
      this.bytes = bytes
      beginOne(step)
    }

    accept(offset: number, payload: Uint8Array): void {
      if (this.isComplete || offset !== this.arrivedBytes)
        throw new ProtocolError(
          `segment at byte ${offset} of step ${this.step} from rank ${this.peer}, expected ${this.arrivedBytes}`,
        )
      const bytes = coding ? coding.rawBytesIn(payload.byteLength) : payload.byteLength
      if (bytes === undefined || bytes % dtype.bytes !== 0)
        throw new ProtocolError(`segment of ${payload.byteLength} bytes of ${codec?.name ?? dtype.name}`)
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
        const from = Math.max(offset, begin)
        const to = Math.min(end, begin + action.length * dtype.bytes)
        action.pending.push(
          dtype.view(aligned.buffer, aligned.byteOffset + from - offset, (to - from) / dtype.bytes),
        )
        wakes.push(action)
        if (to < begin + action.length * dtype.bytes) break
        this.#at++
      }
      this.arrivedBytes = end
      if (end === this.bytes) {
        this.isComplete = true
        finishOne(this.step)
      }
      run()
    }
  }

  class ReceiveAction implements Action {
    readonly length: number
    done = 0
    readonly after: Action[] = []
    readonly before: Action[] = []
    /** Operands that have arrived and are not applied yet, in order. */
    readonly pending: NumericArray[] = []
    readonly #how: How
    readonly #step: number
    readonly #target: { out: NumericArray; current: NumericArray }

    constructor(slot: number, how: How, step: number) {
      this.length = lengthOf(slot)
      this.#how = how
      this.#step = step
      this.#target = writeOf(this, slot, how)
      if (this.length > 0) beginOne(step)
    }

    advance(limit: number): void {
      while (this.pending.length > 0 && this.done < limit) {
        const operand = this.pending[0]!
        const elements = Math.min(operand.length, limit - this.done)
        apply(
          this.#target,
          this.#how,
          this.done,
          elements === operand.length ? operand : operand.subarray(0, elements),
        )
        if (elements === operand.length) this.pending.shift()
        else this.pending[0] = operand.subarray(elements)
        progress(this, elements)
        if (this.done === this.length) finishOne(this.#step)
      }
    }
  }

  const locals: Action[] = []
  const addLocal = (from: number, slot: number, how: How, step: number) => {
    const action: Action = {
      length: lengthOf(slot),
      done: 0,
      after: [],
      before: [],
      advance(limit) {
        if (limit <= action.done) return
        apply(target, how, action.done, operand.subarray(action.done, limit))
        progress(action, limit - action.done)
        if (action.done === action.length) finishOne(step)
      },
    }
    const operand = readOf(action, from)
    const target = writeOf(action, slot, how)
    if (action.length > 0) {
      beginOne(step)
      locals.push(action)
    }
  }

  /** Replaces what slot holds by what others decode when it is sent. */
  const addProjection = (coding: Coding, slot: number, step: number) => {
    const action: Action = {
      length: lengthOf(slot),
      done: 0,
      after: [],
      before: [],
      advance(limit) {
        if (limit <= action.done) return
        const { done } = action
        const values = target.current.subarray(done, limit)
        coding.project(values, positionOf(slot) + done, target.out.subarray(done, limit))
        progress(action, limit - done)
        if (action.done === action.length) finishOne(step)
      },
    }
    const target = writeOf(action, slot, 'append')
    noteWrite(slot, true)
    if (action.length > 0) {
      beginOne(step)
      locals.push(action)
    }
  }

  const lastingSends = coding && findLastingSends(part)
  for (const [index, step] of part.steps.entries()) {
    if (coding)
      for (const slot of lastingSends?.[index] ?? [])
        if (!projected.has(slot)) addProjection(coding, slot, index)
    for (const { to, slots } of step.sends) outgoing.push(new Outgoing(to, index, slots))
    for (const { from, slots, how } of step.receives) {
      incoming.set(keyOf(from, index), new Incoming(from, index, slots, how))
      for (const slot of slots) noteWrite(slot, how === 'store')
    }
    for (const { from, slot, how } of step.locals) {
      addLocal(from, slot, how, index)
      noteWrite(slot, how === 'store' && projected.has(from))
    }
  }
  if (coding)
    for (const slot of part.output)
      if (!projected.has(slot)) addProjection(coding, slot, Math.max(0, part.steps.length - 1))
  // A result that no step wrote is the input itself.
  for (const slot of part.output)
    if (value[slot] !== storage[slot] && value[slot]) storageOf(slot).set(value[slot] as never)

  const incomingList = [...incoming.values()]
  let bytesTotal = 0
  for (const message of outgoing) bytesTotal += wireBytes(message.bytes)
  for (const message of incomingList) bytesTotal += wireBytes(message.bytes)

  return {
    outgoing,
    incoming: incomingList,
    bytesTotal,
    get scratchBytes() {
      return scratchBytes
    },
    get isComplete() {
      return remaining === 0
    },
    get stepsDone() {
      return stepsDone
    },
    start() {
      for (const message of outgoing) config.onSendable(message)
      wakes.push(...locals)
      run()
    },
    accept(peer, step, offset, payload) {
      const message = incoming.get(keyOf(peer, step))
      if (!message)
        throw new ProtocolError(`rank ${peer} sent a message of step ${step} that the schedule does not have`)
      message.accept(offset, payload)
    },
    waitingFor() {
      const missing = incomingList.filter((message) => !message.isComplete)
      const step = missing.reduce((least, message) => Math.min(least, message.step), part.steps.length)
      return {
        step,
        peers: missing.filter((message) => message.step === step).map((message) => message.peer),
      }
    },
  }
}

function limitOf(action: Action): number {
  let limit = action.length
  for (const earlier of action.after) limit = Math.min(limit, earlier.done)
  return limit
}

function depend(action: Action, earlier: Action | undefined): void {
  if (!earlier || earlier === action) return
  action.after.push(earlier)
  earlier.before.push(action)
}

/** Where each of `slots` lies when their chunks are laid one after the other in chunk order; slots of one chunk share a place. */
function placeChunks(part: RankSchedule, slots: readonly number[], lengthOf: (slot: number) => number) {
  const byChunk = [...slots].sort((a, b) => part.slots[a]! - part.slots[b]!)
  const at = new Map<number, number>()
  let length = 0
  let previous: number | undefined
  for (const slot of byChunk) {
    const isSame = previous !== undefined && part.slots[previous] === part.slots[slot]
    at.set(slot, isSame ? at.get(previous!)! : length)
    if (!isSame) length += lengthOf(slot)
    previous = slot
  }
  return { at, length }
}
