/**
 * What members tell each other outside of data: JSON in frames of kind `control`, at most 64 KiB, parsed here and
 * nowhere else (docs/data-plane.md).
 */
import * as v from 'valibot'
import { ArgumentError, ProtocolError } from '../base/errors.ts'

export const maxControlBytes = 64 * 1024
/** What is added to a message that others pass on. */
const maxWrappingBytes = 512
/** Of the application, for a newcomer: memory is set aside for what a member announces. */
export const maxStateBytes = 512 * 1024 * 1024

/** Ops that one member may have in flight or keep at a time. */
const maxListed = 256

const natural = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffffffff))
const rank = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff))
const text = v.pipe(v.string(), v.maxLength(1000))
const peerId = v.pipe(v.string(), v.minLength(1), v.maxLength(64))
const peerName = v.object({ rank, peerId, name: text })

/** What all ranks must agree on before an op's data are used. */
export const callSchema = v.object({
  collective: text,
  name: text,
  dtype: text,
  /** How elements travel; empty: as they are. */
  wire: text,
  count: natural,
  /** Root, and the elements of each rank where they differ; empty when the collective has neither. */
  layout: text,
  operator: text,
  /** What becomes of values that are not finite; empty when nobody asks. */
  nonFinite: text,
  algorithm: text,
  /** Version and origin of the network model that an automatic choice was made with. */
  model: text,
})
export type Call = v.InferOutput<typeof callSchema>

/** Where a member stands on the way to a new epoch. */
const standingSchema = v.object({
  peerId,
  /** It has no agreed epoch yet: it takes part from the boundary on. */
  isFresh: v.boolean(),
  /** The newest epoch that it has agreed on, 0 for none; from here on it agrees on no other before this one. */
  agreed: natural,
  /** Ops called so far; absent while its links to the members are still opening. Once told it does not change. */
  called: v.optional(natural),
  /** With `called`: ops whose result it keeps, and the epoch that each was finished in. */
  finished: v.optional(v.pipe(v.array(v.tuple([natural, natural])), v.maxLength(maxListed))),
  /** With `called`: ops that it has suspended because a member is gone. */
  suspended: v.optional(v.pipe(v.array(natural), v.maxLength(maxListed))),
  /** With `called`: it has a state of the application for newcomers; it has yet to get one. */
  offersState: v.optional(v.boolean()),
  needsState: v.optional(v.boolean()),
})
export type Standing = v.InferOutput<typeof standingSchema>

const errorSchema = v.variant('code', [
  v.object({
    code: v.literal('TIMEOUT'),
    message: text,
    op: natural,
    step: natural,
    waitingFor: v.array(peerName),
  }),
  v.object({ code: v.literal('PEER_LOST'), message: text, peer: peerName, epoch: natural }),
  v.object({ code: v.literal('ABORTED'), message: text }),
  v.object({ code: v.literal('INVALID_ARGUMENT'), message: text, argument: text }),
  v.object({ code: v.literal('PROTOCOL'), message: text }),
])
export type AbortReason = v.InferOutput<typeof errorSchema>

const controlSchema = v.variant('type', [
  /** What the sender knows of the standings for `epoch`, its own and others', and has not told before on this link. */
  v.object({ type: v.literal('sync'), epoch: natural, standings: v.array(standingSchema) }),
  /** The op has failed on the sender; it fails everywhere. */
  v.object({ type: v.literal('abort'), op: natural, epoch: natural, reason: errorSchema }),
  /** The sender's call of an op whose calls differ. */
  v.object({ type: v.literal('call'), op: natural, call: callSchema }),
  /** Nothing has moved in `op` for a while: where are you? */
  v.object({ type: v.literal('where'), op: natural }),
  /** With the signature of the sender's call, when it runs. */
  v.object({
    type: v.literal('here'),
    op: natural,
    isCalled: v.boolean(),
    runs: v.optional(v.object({ epoch: natural, signature: natural })),
  }),
  /** The sender passes on the state of the application in `op`: so many bytes, with this fingerprint. */
  v.object({
    type: v.literal('state'),
    op: natural,
    bytes: v.pipe(natural, v.maxValue(maxStateBytes)),
    hash: v.pipe(v.string(), v.length(16)),
  }),
  /** The application's own message. */
  v.object({ type: v.literal('tell'), data: v.unknown() }),
  /** Measurement: the sender is in this round of op and will echo. */
  v.object({ type: v.literal('probe'), op: natural, round: natural }),
  /** Measurement: what the driver of a pair has seen, as [bytes, seconds] pairs; and where it could tell, seconds per byte of a long stream
   * and seconds per message. */
  v.object({
    type: v.literal('probed'),
    op: natural,
    round: natural,
    samples: v.pipe(v.array(v.tuple([natural, v.pipe(v.number(), v.minValue(0))])), v.maxLength(1000)),
    pace: v.optional(v.pipe(v.number(), v.minValue(0))),
    overhead: v.optional(v.pipe(v.number(), v.minValue(0))),
  }),
  /**
   * In a group that has not all links: a message that others pass on, to member `to` or to all. `isFlood`: over every link, although it is for one.
   * A member believes those that pass it on who has sent it.
   */
  v.object({
    type: v.literal('pass'),
    from: peerId,
    id: natural,
    to: v.optional(peerId),
    isFlood: v.optional(v.boolean()),
    hops: natural,
    inner: v.unknown(),
  }),
])
export type Control = v.InferOutput<typeof controlSchema>

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

export function encodeControl(control: Control): Uint8Array {
  return encoder.encode(JSON.stringify(control))
}

/** What the application tells, checked: it must fit into one frame. */
export function tellControl(data: unknown): Control {
  const control: Control = { type: 'tell', data }
  const bytes = encodeControl(control).byteLength
  if (bytes > maxControlBytes)
    throw new ArgumentError('data', `A message takes at most ${maxControlBytes} bytes as JSON, not ${bytes}.`)
  return control
}

export function decodeControl(payload: Uint8Array): Control {
  if (payload.byteLength > maxControlBytes + maxWrappingBytes)
    throw new ProtocolError(`control message of ${payload.byteLength} bytes`)
  let value: unknown
  try {
    value = JSON.parse(decoder.decode(payload))
  } catch (cause) {
    throw new ProtocolError('control message is not JSON', { cause })
  }
  const parsed = v.safeParse(controlSchema, value)
  if (!parsed.success) throw new ProtocolError(`control message: ${v.summarize(parsed.issues)}`)
  return parsed.output
}

/** What was passed on; undefined when it is no control message, for which whoever passed it on is not to blame. */
export function controlIn({ inner }: Extract<Control, { type: 'pass' }>): Control | undefined {
  const parsed = v.safeParse(controlSchema, inner)
  return parsed.success && parsed.output.type !== 'pass' ? parsed.output : undefined
}
