import { describe, expect, it } from 'vitest'
import { createEarlySignals } from '../../../client/rtc/earlySignals.ts'
import { attemptSeconds } from '../../../client/rtc/pairing.ts'
import type { PeerSignal } from '../../../client/rtc/peerSignal.ts'
import { VirtualClock } from '../../../shared/base/clock.ts'

const offer = (attempt: number): PeerSignal => ({ type: 'offer', attempt, sdp: '' })
const candidate = (attempt: number): PeerSignal => ({
  type: 'candidate',
  attempt,
  candidate: { candidate: '' },
})

describe('early signals', () => {
  it('are handed out once, in order, the newest attempt only', () => {
    const early = createEarlySignals(new VirtualClock())
    early.keep('a', offer(1))
    early.keep('a', candidate(1))
    early.keep('a', offer(2))
    early.keep('a', candidate(1))
    early.keep('a', candidate(2))
    early.keep('b', offer(7))
    expect(early.take('a')).toEqual([offer(2), candidate(2)])
    expect(early.take('a')).toEqual([])
    expect(early.take('b')).toEqual([offer(7)])
  })

  it('are of no use once their sender has given up', () => {
    const clock = new VirtualClock()
    const early = createEarlySignals(clock)
    early.keep('a', offer(1))
    clock.after(attemptSeconds, () => {})
    clock.step()
    expect(early.take('a')).toEqual([])
  })

  it('are bounded, for each peer and for all', () => {
    const early = createEarlySignals(new VirtualClock())
    early.keep('a', offer(1))
    for (let at = 0; at < 1000; at++) early.keep('a', candidate(1))
    expect(early.take('a')).toHaveLength(64)
    for (let at = 0; at < 1000; at++) early.keep(`p${at}`, offer(1))
    expect(early.take('p871')).toEqual([])
    expect(early.take('p872')).toHaveLength(1)
  })
})
