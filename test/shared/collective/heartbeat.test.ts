import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { createHeartbeat } from '../../../shared/collective/heartbeat.ts'
import type { Lane } from '../../../shared/collective/lane.ts'

function setUp() {
  const clock = new VirtualClock()
  const pings: number[] = []
  const doubts: number[] = []
  const silent: [string, number][] = []
  const lane = { say: () => {}, sendNow: () => pings.push(clock.now()) } as unknown as Lane
  const heartbeat = createHeartbeat({
    clock,
    limitSeconds: 3,
    lanes: () => [['bo', lane]],
    onDoubt: () => doubts.push(clock.now()),
    onSilent: (peerId) => silent.push([peerId, clock.now()]),
  })
  const run = (until: number) => {
    while ((clock.next() ?? Number.POSITIVE_INFINITY) <= until) clock.step()
  }
  return { clock, heartbeat, pings, doubts, silent, run }
}

describe('createHeartbeat', () => {
  it('asks at once, doubts after a fifth of the limit and gives up after the limit', () => {
    const { heartbeat, pings, doubts, silent, run } = setUp()
    heartbeat.heard('bo')
    run(2.9)
    expect(silent).toEqual([])
    expect(pings[0]).toBeLessThanOrEqual(0.3)
    expect(doubts[0]).toBeGreaterThanOrEqual(0.6)
    expect(doubts[0]).toBeLessThanOrEqual(0.9 + 1e-9)
    expect(doubts.length).toBeGreaterThanOrEqual(4)
    run(4)
    expect(silent[0]![0]).toBe('bo')
    expect(silent[0]![1]).toBeLessThanOrEqual(3.5)
  })

  it('never reports a peer that answers', () => {
    const { clock, heartbeat, doubts, silent, run } = setUp()
    for (let at = 0; at < 30; at += 0.6) {
      clock.after(at, () => heartbeat.heard('bo'))
    }
    run(30)
    expect([doubts, silent]).toEqual([[], []])
  })

  it('does not hold its own sleep against the others', () => {
    const { clock, heartbeat, silent, run } = setUp()
    heartbeat.heard('bo')
    run(1)
    // The check that was due at 1.5 s runs at 60 s: this member slept.
    clock.sleep(59)
    run(61)
    expect(silent).toEqual([])
    run(65)
    expect(silent.length).toBe(1)
  })
})
