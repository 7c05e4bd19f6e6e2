import { beforeEach, describe, expect, it } from 'vitest'
import type { OutgoingMessage } from '../../../shared/collective/dataflow.ts'
import { type Budget, createBudget, createLane, type Lane } from '../../../shared/collective/lane.ts'
import { decodeFrame, encodeFrame, type Frame, frameHeaderBytes } from '../../../shared/wire/frame.ts'

const segmentBytes = 1024
const frameBytes = segmentBytes + frameHeaderBytes

let budget: Budget
let oldest: number

beforeEach(() => {
  budget = createBudget()
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
      budget,
      windowBytes: windowFrames * frameBytes,
      segmentBytes,
      oldestOp: () => oldest,
      settledBelow: () => 0,
    },
  )
  return {
    lane,
    sent,
    enqueue(frames: number, op = 1) {
      lane.enqueue({ op, epoch: 1, signature: 0, message: messageOf(frames * segmentBytes), onSent() {} })
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

describe('lanes with one budget', () => {
  let all: ReturnType<typeof laneOf>[]
  const onTheWay = (lanes: readonly { lane: Lane }[]) =>
    lanes.reduce((sum, { lane }) => sum + lane.inFlightBytes, 0)

  beforeEach(() => {
    budget.limitBytes = 6 * frameBytes
    all = [laneOf(), laneOf(), laneOf()]
  })

  it('share it: none has all, none has nothing, and what is full always empties', () => {
    for (const one of all) one.enqueue(20)
    expect(all.map(({ sent }) => sent.length)).toEqual([6, 1, 1])
    for (let time = 0; all.some(({ sent }) => sent.length < 20); time++) {
      expect(time).toBeLessThan(100)
      expect(budget.inFlightBytes).toBe(onTheWay(all))
      expect(budget.inFlightBytes).toBeLessThanOrEqual(8 * frameBytes)
      // Only who was asked answers.
      const asked = all.filter(({ lane, sent }) => lane.inFlightBytes > 0 && sent.at(-1)!.acknowledge)
      expect(asked.length).toBeGreaterThan(0)
      for (const one of asked) one.acknowledge()
    }
    for (const one of all) one.acknowledge()
    expect(budget.inFlightBytes).toBe(0)
  })

  it('go on when another closes', () => {
    const [first, second] = all as [ReturnType<typeof laneOf>, ReturnType<typeof laneOf>]
    first.enqueue(20)
    second.enqueue(20)
    expect(second.sent).toHaveLength(1)
    first.lane.close()
    expect(second.sent).toHaveLength(6)
    expect(budget.inFlightBytes).toBe(6 * frameBytes)
  })
})
