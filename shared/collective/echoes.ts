/** Messages to other members and back over the lanes of data, and the pace at which they come. */
import type { Clock } from '../base/clock.ts'
import { createDeferred, type Deferred } from '../base/deferred.ts'
import type { Frame } from '../wire/frame.ts'
import type { Lane } from './lane.ts'

/** Less is a segment or two, and says nothing of a stream. */
const minMeteredBytes = 64 * 1024

export interface Echoes {
  /** Seconds until so many bytes are there and back; undefined when they do not come in time. */
  send(lane: Lane, bytes: number): Promise<number | undefined>
  /** All at once: seconds until `messages` of `bytes` over each lane have come back. */
  burst(lanes: readonly Lane[], messages: number, bytes: number): Promise<number | undefined>
  /** Counts what comes from now on, until the next one is asked for. Shares of the bytes that are expected. */
  meter(expected: number, shares: readonly [from: number, to: number]): Pick<Meter, 'pace'>
  /** A ping or a pong has come. */
  frame(peerId: string, frame: Frame): void
}

export function createEchoes(config: {
  clock: Clock
  segmentBytes: number
  lane(peerId: string): Lane | undefined
  /** Undefined when it does not come in time. */
  within<T>(promise: Promise<T>): Promise<T | undefined>
}): Echoes {
  const { clock, segmentBytes } = config
  const zeros = new Uint8Array(segmentBytes)
  const answers = new Map<number, Deferred<void>>()
  let nextSequence = 1
  let meter: Meter | undefined

  const sendParts = (lane: Lane, kind: 'ping' | 'pong', step: number, total: number) => {
    let offset = 0
    do {
      const bytes = Math.min(segmentBytes, total - offset)
      lane.sendNow({ kind, step, offset, total }, zeros.subarray(0, bytes))
      offset += bytes
    } while (offset < total)
  }
  const send = async (lane: Lane, bytes: number) => {
    const sequence = nextSequence++
    const answer = createDeferred<void>()
    answers.set(sequence, answer)
    const begin = clock.now()
    sendParts(lane, 'ping', sequence, bytes)
    const seconds = await config.within(answer.promise.then(() => clock.now() - begin))
    answers.delete(sequence)
    return seconds
  }

  return {
    send,
    async burst(lanes, messages, bytes) {
      const begin = clock.now()
      const all = lanes.flatMap((lane) => Array.from({ length: messages }, () => send(lane, bytes)))
      const seconds = await Promise.all(all)
      return seconds.includes(undefined) ? undefined : clock.now() - begin
    },
    meter(expected, shares) {
      meter = createMeter(clock, expected, shares)
      return meter
    },
    frame(peerId, frame) {
      meter?.add(frame.payload.byteLength)
      if (frame.offset + frame.payload.byteLength < frame.total) return
      if (frame.kind === 'ping') {
        const lane = config.lane(peerId)
        if (lane) sendParts(lane, 'pong', frame.step, frame.total)
      } else answers.get(frame.step)?.resolve()
    },
  }
}

interface Meter {
  add(bytes: number): void
  /** Seconds per byte between the two shares of what was expected; undefined when too little came in several pieces. */
  readonly pace: number | undefined
}

function createMeter(clock: Clock, expected: number, [from, to]: readonly [number, number]): Meter {
  let received = 0
  let begin: { at: number; bytes: number } | undefined
  let end: { at: number; bytes: number } | undefined
  return {
    add(bytes) {
      received += bytes
      if (!begin && received >= from * expected) begin = { at: clock.now(), bytes: received }
      else if (begin && !end && received >= to * expected) end = { at: clock.now(), bytes: received }
    },
    get pace() {
      if (!begin || !end || end.bytes - begin.bytes < minMeteredBytes || end.at <= begin.at) return undefined
      return (end.at - begin.at) / (end.bytes - begin.bytes)
    },
  }
}
