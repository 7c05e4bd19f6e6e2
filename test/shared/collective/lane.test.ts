import { beforeEach, describe, expect, it } from 'vitest'
import type { OutgoingMessage } from '../../../shared/collective/dataflow.ts'
import { createLane } from '../../../shared/collective/lane.ts'
import { decodeFrame, encodeFrame, type Frame, frameHeaderBytes } from '../../../shared/wire/frame.ts'

const segmentBytes = 1024
const frameBytes = segmentBytes + frameHeaderBytes

let oldest: number

beforeEach(() => {
  oldest = 1
})

function messageOf(bytes: number): OutgoingMessage {
  return {
    peer: 1,
    step: 0,
    bytes,
    sentBytes: 0,
    nextSegment() {
      return this.sentBytes === bytes ? -1 : Math.min(segmentBytes, bytes - this.sentBytes)
    },
    take(target) {
      ;(this as { sentBytes: number }).sentBytes += target.byteLength
    },
  }
}

function laneOf(windowFrames = 1000) {
  const sent: Frame[] = []
  const lane = createLane(
    {
      peerId: 'peer',
      maxMessageBytes: 65_536,
      bufferedBytes: 0,
      send(message) {
        sent.push(decodeFrame(message.slice()))
        return true
      },
    },
    {
      windowBytes: windowFrames * frameBytes,
      segmentBytes,
      oldestOp: () => oldest,
      settledBelow: () => 0,
    },
  )
  lane.sharesLine = true
  return {
    lane,
    sent,
    enqueue(frames: number, op = 1, windowShare = 1) {
      const message = messageOf(frames * segmentBytes)
      lane.enqueue({ op, epoch: 1, signature: 0, message, windowShare, onSent() {} })
      lane.pump()
    },
    /** The peer has used all that was sent. */
    acknowledge() {
      const [last] = sent
      const consumed = sent.length * frameBytes
      lane.arrived(decodeFrame(encodeFrame({ ...last!, kind: 'ack', total: 0, consumed }, new Uint8Array(0))))
      lane.pump()
    },
  }
}

describe('a lane', () => {
  it('has no more on the way than its window, and asks when that is full', () => {
    const one = laneOf(4)
    one.enqueue(10)
    expect(one.sent).toHaveLength(4)
    expect(one.sent.at(-1)!.acknowledge).toBe(true)
    one.acknowledge()
    expect(one.sent).toHaveLength(8)
    one.acknowledge()
    expect(one.sent).toHaveLength(10)
  })

  it('leaves half of the window to the oldest op', () => {
    const one = laneOf(4)
    one.enqueue(10, 2)
    expect(one.sent).toHaveLength(2)
    expect(one.sent.at(-1)!.acknowledge).toBe(true)
    one.enqueue(10, 1)
    expect(one.sent.slice(2).map(({ op }) => op)).toEqual([1, 1])
  })

  it('has no more of an op on the way than its share of the window, and asks when that is full', () => {
    const one = laneOf(8)
    one.enqueue(10, 1, 1 / 4)
    expect(one.sent).toHaveLength(2)
    expect(one.sent.at(-1)!.acknowledge).toBe(true)
    one.acknowledge()
    expect(one.sent).toHaveLength(4)
    one.lane.sharesLine = false
    one.lane.pump()
    expect(one.sent).toHaveLength(10)
  })

  it('keeps no share from the oldest op because a later one has filled more than that', () => {
    const one = laneOf(8)
    one.enqueue(10, 2)
    expect(one.sent).toHaveLength(4)
    one.enqueue(10, 1, 1 / 4)
    expect(one.sent.slice(4).map(({ op }) => op)).toEqual([1, 1])
  })

  it('has room for an op that is passed on again with a share, although later ones that have ended here fill the window', () => {
    const one = laneOf(8)
    oldest = 2
    one.enqueue(10, 2)
    expect(one.sent).toHaveLength(8)
    one.lane.drop(2)
    oldest = 1
    one.enqueue(10, 1, 1 / 4)
    expect(one.sent.slice(8).map(({ op }) => op)).toEqual([1, 1, 1])
  })

  it('has room for an op that is passed on again, although a later one has filled the window of a peer that does not use it yet', () => {
    const one = laneOf(4)
    oldest = 2
    one.enqueue(10, 2)
    expect(one.sent).toHaveLength(4)
    // The peer still runs op 1, which has ended here: its result goes to it now.
    oldest = 1
    one.enqueue(10, 1)
    expect(one.sent.slice(4).map(({ op }) => op)).toEqual([1, 1])
    expect(one.sent.at(-1)!.acknowledge).toBe(true)
  })

  it('says that ops have ended when nothing else has said it, before the copies at the peer are many', () => {
    const one = laneOf()
    for (let op = 0; op < 1000; op++) one.lane.ended(100)
    expect(one.sent.length).toBe(15)
    expect(one.sent.every(({ kind }) => kind === 'ack')).toBe(true)
    one.lane.ended(64 * 1024 * 1024)
    expect(one.sent.length).toBe(16)
    one.lane.ended(1024 * 1024)
    one.enqueue(1)
    one.lane.ended(1024 * 1024)
    expect(one.sent.length).toBe(17)
  })
})
