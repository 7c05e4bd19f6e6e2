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
import { type Action, Flow, Move, Projection, Receive, type Target } from './actions.ts'
import { type Coding, createCoding, findLastingSends } from './coding.ts'
import { Incoming, Outgoing } from './messages.ts'

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
  const { part, offsets, dtype, codec } = config
  const coding =
    codec && createCoding(codec, dtype, offsets[offsets.length - 1]!, config.segmentBytes, config.residual)
  const wireBytes = (bytes: number) => coding?.wireBytes(bytes) ?? bytes
  const flow = new Flow({
    dtype,
    combine: config.combine,
    coding,
    wireName: codec?.name ?? dtype.name,
    segmentBytes: coding?.segmentBytes ?? config.segmentBytes,
    steps: part.steps.length,
    onSendable: config.onSendable,
  })
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

  const storage: (NumericArray | undefined)[] = []
  const storageOf = (slot: number): NumericArray => {
    let memory = storage[slot]
    if (!memory) {
      const at = outputs.at.get(slot)
      const length = lengthOf(slot)
      if (at !== undefined) memory = config.result.subarray(at, at + length)
      else memory = dtype.create(length)
      storage[slot] = memory
    }
    return memory
  }

  // The state of each slot while the schedule is compiled: its memory, the last write and the reads since.
  const value: (NumericArray | undefined)[] = []
  const written: (Action | undefined)[] = []
  const reads: (Action[] | undefined)[] = []
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

  const readOf = (action: Action, slot: number): NumericArray => {
    const memory = value[slot]
    assert(memory, `slot ${slot} holds nothing`)
    action.dependOn(written[slot])
    // Reading the caller's input never stands in the way: it is not written.
    if (memory === storage[slot]) (reads[slot] ??= []).push(action)
    return memory
  }
  /** Makes `action` the next writer of `slot`: returns where to write and what stands there. */
  const writeOf = (action: Action, slot: number, how: How): Target => {
    const out = storageOf(slot)
    const current = value[slot]
    action.dependOn(written[slot])
    for (const read of reads[slot] ?? []) action.dependOn(read)
    assert(how === 'store' || current, `slot ${slot} holds nothing to combine with`)
    reads[slot] = undefined
    written[slot] = action
    value[slot] = out
    return { out, current: current ?? out }
  }

  const outgoing: Outgoing[] = []
  const incoming = new Map<number, Incoming>()
  const keyOf = (peer: number, step: number) => step * 0x100000 + peer
  /** Wait for nothing that comes from outside. */
  const inner: Action[] = []

  const addSend = (to: number, slots: readonly number[], step: number) => {
    const message = new Outgoing(flow, to, step)
    for (const slot of slots) {
      const isLossy = coding && config.residual && !projected.has(slot)
      message.add(lengthOf(slot), isLossy ? positionOf(slot) : undefined, (action) => readOf(action, slot))
    }
    outgoing.push(message)
  }
  const addReceive = (from: number, slots: readonly number[], how: How, step: number) => {
    const message = new Incoming(flow, from, step)
    for (const slot of slots) {
      message.add(new Receive(flow, lengthOf(slot), how, step, (action) => writeOf(action, slot, how)))
      noteWrite(slot, how === 'store')
    }
    incoming.set(keyOf(from, step), message)
  }
  const addMove = (from: number, slot: number, how: How, step: number) => {
    const move = new Move(
      flow,
      lengthOf(slot),
      how,
      step,
      (action) => readOf(action, from),
      (action) => writeOf(action, slot, how),
    )
    if (move.length > 0) inner.push(move)
    noteWrite(slot, how === 'store' && projected.has(from))
  }
  const project = (by: Coding, slot: number, step: number) => {
    if (projected.has(slot)) return
    const write = (action: Action) => writeOf(action, slot, 'append')
    const projection = new Projection(flow, by, lengthOf(slot), step, positionOf(slot), write)
    noteWrite(slot, true)
    if (projection.length > 0) inner.push(projection)
  }

  const lastingSends = coding && findLastingSends(part)
  for (let index = 0; index < part.steps.length; index++) {
    const { sends, receives, locals } = part.steps[index]!
    if (coding) for (const slot of lastingSends?.[index] ?? []) project(coding, slot, index)
    for (const { to, slots } of sends) addSend(to, slots, index)
    for (const { from, slots, how } of receives) addReceive(from, slots, how, index)
    for (const { from, slot, how } of locals) addMove(from, slot, how, index)
  }
  if (coding) for (const slot of part.output) project(coding, slot, Math.max(0, part.steps.length - 1))
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
    get isComplete() {
      return flow.remaining === 0
    },
    get stepsDone() {
      return flow.stepsDone
    },
    start() {
      for (const message of outgoing) config.onSendable(message)
      for (const action of inner) flow.wake(action)
      flow.run()
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
