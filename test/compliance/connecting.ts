/** What an unreliable world does to the making of a connection, for every implementation of WebRTC. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Webrtc } from '../../client/rtc/simplePeer.ts'
import { realClock } from '../../shared/base/clock.ts'
import { createPrng } from '../../shared/base/prng.ts'
import { type RtcFixture, rtcFixture } from './rtcFixture.ts'
import { linked, observe, pattern, until } from './transport.ts'

/** Time-outs come so many times as early. */
const hasty = (times: number) => ({
  now: () => realClock.now() * times,
  after: (seconds: number, callback: () => void) => realClock.after(seconds / times, callback),
})

export function describeConnecting(name: string, webrtc: Webrtc): void {
  describe(`connecting: ${name}`, () => {
    let fixture: RtcFixture
    afterEach(() => fixture.dispose())

    const meet = () => {
      const [a, b] = [observe(fixture.create('a')), observe(fixture.create('b'))]
      a.transport.want(['b'])
      b.transport.want(['a'])
      return [a, b] as const
    }

    it('tells how the link goes once, by the side that began it', async () => {
      fixture = rtcFixture(webrtc)
      const [a, b] = meet()
      await linked(a, b)
      await until('the outcome', () => fixture.outcomes.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(fixture.outcomes).toEqual([{ by: 'a', peerId: 'b', outcome: 'direct' }])
    })

    it('takes every signal twice without harm', async () => {
      fixture = rtcFixture(webrtc, { deliveries: () => 2 })
      const [a, b] = meet()
      await linked(a, b)
      a.link('b').send(pattern(9, 1))
      await until('the message', () => b.received.length === 1)
      expect([a.opened.length, b.opened.length, fixture.attempts?.()]).toEqual([1, 1, 2])
      expect([a.closed, b.closed]).toEqual([[], []])
    })

    it('makes another attempt when an offer is lost', async () => {
      let offers = 0
      fixture = rtcFixture(webrtc, {
        clock: hasty(5),
        deliveries: (_from, _to, { type }) => (type === 'offer' && offers++ === 0 ? 0 : 1),
      })
      const [a, b] = meet()
      await linked(a, b)
      expect(offers).toBeGreaterThan(1)
      expect([a.closed, b.closed]).toEqual([[], []])
    })

    it('says that the other side does not answer', async () => {
      fixture = rtcFixture(webrtc, { clock: hasty(30), deliveries: () => 0 })
      const [a, b] = meet()
      await until('both to give up', () => a.closed.length > 0 && b.closed.length > 0, 20)
      expect(a.closed).toMatchObject([{ error: { code: 'ICE_FAILED' } }])
      expect(a.closed[0]!.error.message).toContain('it did not answer in 3 attempts')
      expect(b.closed[0]!.error.message).toContain('it made no offer')
      expect(fixture.outcomes).toEqual([{ by: 'a', peerId: 'b', outcome: 'failed' }])
    })

    it('gets over an end at any moment of the set-up, by any side', async () => {
      fixture = rtcFixture(webrtc)
      const random = createPrng(7)
      const [a, b] = meet()
      const ends = [
        () => a.transport.want([]),
        () => b.transport.want([]),
        () => fixture.vanish('a'),
        () => fixture.vanish('b'),
        () => {
          a.transport.want([])
          b.transport.want([])
        },
      ]
      for (let round = 1; round <= 20; round++) {
        await new Promise((resolve) => setTimeout(resolve, random.below(40)))
        ends[random.below(ends.length)]!()
        // As a group does: both ask again and again until they have their link, and it carries.
        const message = pattern(12, round)
        await until(`a link that carries in round ${round}`, () => {
          a.transport.want(['b'])
          b.transport.want(['a'])
          a.transport.link('b')?.send(message)
          return b.received.some(({ message: got }) => got[0] === message[0] && got[1] === message[1])
        })
        // And from nothing again, so that the next end comes in the middle.
        a.transport.want([])
        b.transport.want([])
        b.received.length = 0
        a.transport.want(['b'])
        b.transport.want(['a'])
      }
    })
  })
}
