/**
 * The sending side of one link: which segment of which op goes next, and when.
 *
 * Two levels of flow control. The link's own queue is bounded by its mark (`send` returns false, `drain` goes on). Above it, at
 * most `windowBytes` are on the way without having been consumed by the peer, so that both directions of a link stay even
 * and queues in the network short; an op that talks to several peers at once fills a share of each link's. Acknowledgements ride on every frame (`consumed`); a frame that uses up another quarter
 * of the window, or all of it, asks for one at once.
 *
 * Older ops go first, and ops other than the oldest one may fill only half of the window: a peer that has not called a later op
 * yet does not consume its frames, and they must not keep the older op's frames from it. An op that has ended here and is passed on to a peer that
 * lacks its result becomes the oldest one again, when a later op may have filled the window already: it gets half a window beyond that.
 */
import type { Link } from '../transport/types.ts'
import {
  encodeFrame,
  type Frame,
  type FrameHeader,
  frameHeaderBytes,
  writeFrameHeader,
} from '../wire/frame.ts'
import type { OutgoingMessage } from './dataflow.ts'

/** A message of an op that waits for its turn on this link. */
export interface LaneJob {
  readonly op: number
  readonly epoch: number
  readonly signature: number
  readonly message: OutgoingMessage
  /** The part of the window that its op may fill where links share a line, 0 .. 1. */
  readonly windowShare: number
  /** Before all other messages of its op. */
  readonly goesFirst?: boolean
  /** Called after each segment that was handed to the link. */
  onSent(bytes: number): void
}

export interface Lane {
  readonly link: Link
  /** Of ops that begin now; never more than the link takes in one message. */
  segmentBytes: number
  readonly maxSegmentBytes: number
  windowBytes: number
  /** All links of this host fill one line, so that an op has no more than its share of this one's window on the way. */
  sharesLine: boolean
  enqueue(job: LaneJob): void
  /** Forgets the messages of an op that has ended. */
  drop(op: number): void
  /**
   * An op whose result has so many bytes has ended here. The peer keeps a copy of it until it hears of that by any frame; where the schedules send
   * none this way, one is sent before the copies are many.
   */
  ended(bytes: number): void
  /** Says at once which ops this member needs no more, unless the peer has heard it. */
  say(): void
  /** Sends as much as link and window take. */
  pump(): void
  /** Sends a frame outside of the window: control, pings. */
  sendNow(header: Partial<FrameHeader> & Pick<FrameHeader, 'kind'>, payload: Uint8Array): void
  /** Every frame that came from the peer passes here first. */
  arrived(frame: Frame): void
  /** A data frame from the peer was handed to its op (or dropped for good). */
  consume(frame: Frame): void
  drained(): void
}

const noPayload = new Uint8Array(0)
/** Ended ops, and bytes of their results, that a peer need not hear of at once. */
const maxUnsaidOps = 64
/** Ops whose bytes on a lane are remembered. */
const maxRemembered = 64
const maxUnsaidBytes = 2 * 1024 * 1024
const noHeader: Omit<FrameHeader, 'kind'> = {
  acknowledge: false,
  epoch: 0,
  op: 0,
  step: 0,
  offset: 0,
  total: 0,
  settled: 0,
  signature: 0,
  consumed: 0,
}

export interface LaneOptions {
  readonly windowBytes: number
  readonly segmentBytes: number
  /** Smallest number among the ops that have not ended. */
  oldestOp(): number
  /** This member needs no op below. */
  settledBelow(): number
}

export function createLane(link: Link, options: LaneOptions): Lane {
  const jobs: LaneJob[] = []
  const scratch = new Uint8Array(frameHeaderBytes + options.segmentBytes)
  let isBlocked = false
  let sent = 0
  let consumedByPeer = 0
  let consumedHere = 0
  let unaskedBytes = 0
  /** The latest op that was the oldest one when it sent. */
  let latestOldest = 0
  let unsaidOps = 0
  let unsaidBytes = 0
  /** Handed to the link and not consumed by the peer yet. */
  const inFlightBytes = () => sent - consumedByPeer
  const shareOf = (job: LaneJob) => (lane.sharesLine ? job.windowShare : 1)
  /** Of the latest ops. */
  const sentOfOp = new Map<number, number>()
  /**
   * The first bound keeps the link even and is never exceeded; the second keeps the line of the host short of drops. The peer keeps frames of
   * later ops until it has called them, which may need this op to end: they do not count in the second.
   */
  const isFull = (job: LaneJob, share: number) => {
    const bytes = inFlightBytes()
    const window = share * lane.windowBytes
    const ownWindow = shareOf(job) * window
    if (bytes < ownWindow) return false
    if (bytes >= window) return true
    let laterBytes = 0
    for (const [op, sentBytes] of sentOfOp) if (op > job.op) laterBytes += sentBytes
    return bytes - laterBytes >= ownWindow
  }
  const noteSent = (op: number, bytes: number) => {
    sentOfOp.set(op, (sentOfOp.get(op) ?? 0) + bytes)
    if (sentOfOp.size > maxRemembered) sentOfOp.delete(Math.min(...sentOfOp.keys()))
  }
  let saidSettled = 0
  /** Of a frame that says which ops this member needs no more. */
  const said = (settled: number) => {
    saidSettled = settled
    unsaidOps = 0
    unsaidBytes = 0
  }

  /** Of the data frame that is being sent. */
  const dataHeader: FrameHeader = { ...noHeader, kind: 'data' }

  const sendSegment = (job: LaneJob, bytes: number, share: number) => {
    const { message } = job
    const frame = scratch.subarray(0, frameHeaderBytes + bytes)
    const offset = message.sentBytes
    message.take(frame.subarray(frameHeaderBytes))
    sent += frame.byteLength
    if (share >= 1) latestOldest = Math.max(latestOldest, job.op)
    unaskedBytes += frame.byteLength
    noteSent(job.op, frame.byteLength)
    const acknowledge = unaskedBytes >= (shareOf(job) * lane.windowBytes) / 4 || isFull(job, share)
    if (acknowledge) unaskedBytes = 0
    dataHeader.acknowledge = acknowledge
    dataHeader.epoch = job.epoch
    dataHeader.op = job.op
    dataHeader.step = message.step
    dataHeader.offset = offset
    dataHeader.signature = job.signature
    dataHeader.settled = options.settledBelow()
    dataHeader.consumed = consumedHere >>> 0
    writeFrameHeader(frame, dataHeader)
    said(dataHeader.settled)
    if (!link.send(frame)) isBlocked = true
    job.onSent(bytes)
  }

  let isPumping = false
  const pump = () => {
    // A segment that leaves can make others sendable, which calls pump again: the loop below sees them.
    if (isPumping) return
    isPumping = true
    const oldest = options.oldestOp()
    for (let index = 0; index < jobs.length && !isBlocked; ) {
      const job = jobs[index]!
      const bytes = job.message.nextSegment()
      if (bytes < 0) {
        jobs.splice(index, 1)
        continue
      }
      const share = job.op !== oldest ? 0.5 : job.op < latestOldest ? 1.5 : 1
      if (isFull(job, share)) {
        index++
        continue
      }
      sendSegment(job, bytes, share)
      // What left may have made an older message sendable.
      index = 0
    }
    isPumping = false
  }

  const lane: Lane = {
    link,
    segmentBytes: options.segmentBytes,
    maxSegmentBytes: options.segmentBytes,
    windowBytes: options.windowBytes,
    sharesLine: false,
    enqueue(job) {
      if (jobs.some((other) => other.message === job.message)) return
      let at = jobs.length
      while (at > 0 && isBefore(job, jobs[at - 1]!)) at--
      jobs.splice(at, 0, job)
    },
    drop(op) {
      for (let i = jobs.length - 1; i >= 0; i--) if (jobs[i]!.op === op) jobs.splice(i, 1)
    },
    ended(bytes) {
      unsaidOps++
      unsaidBytes += bytes
      if (unsaidOps >= maxUnsaidOps || unsaidBytes >= maxUnsaidBytes) lane.sendNow({ kind: 'ack' }, noPayload)
    },
    say() {
      if (options.settledBelow() > saidSettled) lane.sendNow({ kind: 'ack' }, noPayload)
    },
    pump,
    sendNow(fields, payload) {
      const settled = options.settledBelow()
      if (fields.kind === 'ack') said(settled)
      const header = {
        ...noHeader,
        total: payload.byteLength,
        ...fields,
        settled,
        consumed: consumedHere >>> 0,
      }
      if (!link.send(encodeFrame(header, payload))) isBlocked = true
    },
    arrived(frame) {
      // The counter on the wire runs modulo 2^32; no honest peer has consumed more than was sent.
      consumedByPeer = Math.min(sent, consumedByPeer + ((frame.consumed - consumedByPeer) >>> 0))
    },
    consume(frame) {
      consumedHere += frameHeaderBytes + frame.payload.byteLength
      if (frame.acknowledge) lane.sendNow({ kind: 'ack' }, noPayload)
    },
    drained() {
      isBlocked = false
      pump()
    },
  }
  return lane
}

function isBefore(a: LaneJob, b: LaneJob): boolean {
  if (a.op !== b.op) return a.op < b.op
  if (a.goesFirst !== b.goesFirst) return a.goesFirst === true
  return a.message.step < b.message.step
}
