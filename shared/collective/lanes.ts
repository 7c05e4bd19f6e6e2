/**
 * The lanes of this member: one for each open link, and for a pair whose link cannot be made one that goes through a common neighbour. Both
 * look alike to everything above. Messages through a neighbour are wrapped (`relay` to it, `relayed` from it); it sets the
 * sender's id itself and passes on only between its own direct links.
 */
import { ProtocolError } from '../base/errors.ts'
import type { View } from '../membership/types.ts'
import type { Link, Transport } from '../transport/types.ts'
import { decodeFrame, type Frame, frameHeaderBytes } from '../wire/frame.ts'
import { type Control, encodeControl } from './control.ts'
import { createLane, type Lane, type LaneOptions } from './lane.ts'

/** Of the link to a peer: seconds one way, and seconds per byte of a long stream. */
export interface Measured {
  readonly peerId: string
  readonly latency: number
  readonly secondsPerByte: number
}

export interface Lanes {
  /** The lane for what begins now: the direct one if there is one. */
  get(peerId: string): Lane | undefined
  entries(): Iterable<readonly [peerId: string, lane: Lane]>
  /** Lanes that go through a neighbour. */
  readonly relays: number
  /** Sends to one member, or to all that there is a lane to. */
  tell(control: Control, peerId?: string): void
  /** Sizes windows and segments by what was measured. */
  tune(links: readonly Measured[]): void
  /** Opens lanes through neighbours for the pairs of the view that have no link. */
  viewChanged(view: View): void
  clear(): void
}

/** Bytes of wrapping: the length and the id of a peer. */
const maxIdBytes = 64
/** Lanes through neighbours that others may open here: no room has more members. */
const maxRelayed = 128
/** On links without a round trip to speak of the processor decides: a deep window costs nothing there. */
const localLatency = 0.001
const localWindowBytes = 1024 * 1024
/** What is on the way is so many times bandwidth x round trip: it fills the line, and leaves its queue short (measured). */
const fillFactor = 4
const [minWindowBytes, maxWindowBytes] = [128 * 1024, 4 * 1024 * 1024]
/** Segments are a part of what a line holds, so that a chain passes them on soon; each costs some work. */
const minSegmentBytes = 16 * 1024
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function createLanes(config: {
  transport: Transport
  options: Omit<LaneOptions, 'windowBytes'>
  onFrame(peerId: string, frame: Frame, lane: Lane): void
  onLinked(peerId: string): void
  /** A lane has closed: what was on it may be lost. */
  onUnlinked(peerId: string, reason: string): void
  /** A link could not be made. */
  onFailed(peerId: string, reason: string): void
  onOffence(peerId: string, error: ProtocolError): void
}): Lanes {
  const { transport, options } = config
  const direct = new Map<string, Lane>()
  const relayed = new Map<string, { lane: Lane; via: string }>()

  const get = (peerId: string) => direct.get(peerId) ?? relayed.get(peerId)?.lane
  const laneOver = (link: Link): Lane =>
    createLane(link, {
      ...options,
      windowBytes: localWindowBytes,
      // Room for the frame's header, and whole elements of any type.
      segmentBytes: Math.min(options.segmentBytes, (link.maxMessageBytes - frameHeaderBytes) & ~15),
    })

  const openRelay = (peerId: string, via: string): Lane | undefined => {
    const carrier = direct.get(via)
    if (!carrier) return undefined
    const link: Link = {
      peerId,
      maxMessageBytes: carrier.link.maxMessageBytes - frameHeaderBytes - 1 - maxIdBytes,
      get bufferedBytes() {
        return carrier.link.bufferedBytes
      },
      send(message) {
        carrier.sendNow({ kind: 'relay' }, wrap(peerId, message))
        // The lane's window bounds what is on the way.
        return true
      },
    }
    const lane = laneOver(link)
    relayed.set(peerId, { lane, via })
    if (!direct.has(peerId)) config.onLinked(peerId)
    return lane
  }
  const closeRelay = (peerId: string, reason: string) => {
    if (relayed.delete(peerId) && !direct.has(peerId)) config.onUnlinked(peerId, reason)
  }

  const accept = (peerId: string, message: Uint8Array, lane: Lane) => {
    const frame = decodeFrame(message)
    lane.arrived(frame)
    config.onFrame(peerId, frame, lane)
    lane.pump()
  }
  const receive = (peerId: string, message: Uint8Array) => {
    const lane = direct.get(peerId)
    if (!lane) return
    const frame = decodeFrame(message)
    if (frame.kind === 'relay') {
      const { id, inner } = unwrap(frame.payload)
      direct.get(id)?.sendNow({ kind: 'relayed' }, wrap(peerId, inner))
    } else if (frame.kind === 'relayed') {
      const { id, inner } = unwrap(frame.payload)
      const known = relayed.get(id)
      if (!known && relayed.size >= maxRelayed)
        throw new ProtocolError(`a passed-on message of yet another peer, after ${relayed.size}`)
      const through = known?.via === peerId ? known.lane : openRelay(id, peerId)
      if (through) accept(id, inner, through)
    } else accept(peerId, message, lane)
  }

  transport.on('open', (link) => {
    direct.set(link.peerId, laneOver(link))
    config.onLinked(link.peerId)
  })
  transport.on('close', ({ peerId, error }) => {
    const wasOpen = direct.delete(peerId)
    if (!wasOpen) config.onFailed(peerId, error.message)
    else config.onUnlinked(peerId, error.message)
    for (const [other, { via }] of [...relayed]) if (via === peerId) closeRelay(other, error.message)
  })
  transport.receive({
    message(peerId, message) {
      try {
        receive(peerId, message)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        config.onOffence(peerId, error)
      }
    },
    drain: (peerId) => direct.get(peerId)?.drained(),
  })

  return {
    get,
    *entries() {
      yield* direct
      for (const [peerId, { lane }] of relayed) if (!direct.has(peerId)) yield [peerId, lane]
    },
    get relays() {
      return relayed.size
    },
    tell(control, peerId) {
      const payload = encodeControl(control)
      const everybody = () => [...new Set([...direct.keys(), ...relayed.keys()])]
      for (const id of peerId === undefined ? everybody() : [peerId])
        get(id)?.sendNow({ kind: 'control' }, payload)
    },
    tune(links) {
      for (const { peerId, latency, secondsPerByte } of links) {
        const lane = get(peerId)
        if (!lane) continue
        lane.sharesLine = latency >= localLatency
        if (!lane.sharesLine) {
          lane.windowBytes = localWindowBytes
          lane.segmentBytes = lane.maxSegmentBytes
          continue
        }
        const product = (2 * latency) / secondsPerByte
        lane.windowBytes = Math.min(maxWindowBytes, Math.max(minWindowBytes, fillFactor * product))
        lane.segmentBytes = Math.min(lane.maxSegmentBytes, Math.max(minSegmentBytes, product / 4)) & ~15
      }
    },
    viewChanged({ members, blocked = [] }) {
      const present = new Set(members.map((member) => member.peerId))
      for (const peerId of [...relayed.keys()]) if (!present.has(peerId)) relayed.delete(peerId)
      const isBlocked = (a: string, b: string) =>
        blocked.some((pair) => (pair.a === a && pair.b === b) || (pair.a === b && pair.b === a))
      for (const { peerId } of members) {
        if (!isBlocked(transport.selfId, peerId) || get(peerId)) continue
        const via = members.find(
          ({ peerId: id }) =>
            id !== peerId && direct.has(id) && !isBlocked(id, peerId) && !isBlocked(id, transport.selfId),
        )
        if (via) openRelay(peerId, via.peerId)
      }
    },
    clear() {
      direct.clear()
      relayed.clear()
    },
  }
}

function wrap(peerId: string, message: Uint8Array): Uint8Array {
  const id = encoder.encode(peerId)
  const wrapped = new Uint8Array(1 + id.byteLength + message.byteLength)
  wrapped[0] = id.byteLength
  wrapped.set(id, 1)
  wrapped.set(message, 1 + id.byteLength)
  return wrapped
}

function unwrap(payload: Uint8Array): { id: string; inner: Uint8Array } {
  const length = payload[0] ?? 0
  if (length === 0 || length > maxIdBytes || payload.byteLength < 1 + length)
    throw new ProtocolError('a passed-on message names no peer')
  return { id: decoder.decode(payload.subarray(1, 1 + length)), inner: payload.subarray(1 + length) }
}
