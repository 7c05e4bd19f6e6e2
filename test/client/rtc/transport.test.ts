import { describe, expect, it } from 'vitest'
import type { Webrtc } from '../../../client/rtc/simplePeer.ts'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { ProtocolError } from '../../../shared/base/errors.ts'
import { createRtcTransport } from '../../compliance/rtcFixture.ts'
import { observe, until } from '../../compliance/transport.ts'

/** A browser that makes so many connections and no more; none of them ever gets anywhere. */
function fakeWebrtc(limit: number) {
  let made = 0
  class Connection extends EventTarget {
    connectionState = 'new'
    iceConnectionState = 'new'
    remoteDescription = null
    constructor() {
      super()
      if (made >= limit)
        throw new DOMException(
          "Failed to construct 'RTCPeerConnection': Cannot create so many PeerConnections",
          'UnknownError',
        )
      made++
    }
    createDataChannel() {
      return Object.assign(new EventTarget(), { readyState: 'connecting', bufferedAmount: 0, close() {} })
    }
    createOffer = async () => ({ type: 'offer', sdp: 'an offer' })
    createAnswer = async () => ({ type: 'answer', sdp: 'an answer' })
    async setLocalDescription() {}
    async setRemoteDescription(description: never) {
      this.remoteDescription = description
    }
    async addIceCandidate() {}
    close() {}
  }
  class Plain {
    constructor(init: object) {
      Object.assign(this, init)
    }
  }
  const webrtc = { RTCPeerConnection: Connection, RTCSessionDescription: Plain, RTCIceCandidate: Plain }
  return {
    webrtc: webrtc as unknown as Webrtc,
    get made() {
      return made
    },
  }
}

function transportOf(selfId: string, limit = 100) {
  const fake = fakeWebrtc(limit)
  const clock = new VirtualClock()
  const signals: { to: string; data: { type: string; attempt: number } }[] = []
  const transport = createRtcTransport({
    selfId,
    webrtc: fake.webrtc,
    clock,
    signal: (to, data) => signals.push({ to, data: data as { type: string; attempt: number } }),
  })
  return { fake, clock, signals, transport, observed: observe(transport) }
}

const offer = (attempt: number) => ({ type: 'offer', attempt, sdp: 'an offer' })

describe('the WebRTC transport', () => {
  it('says when the browser makes no more connections, and does not ask it again at once', async () => {
    const { fake, transport, observed, clock } = transportOf('a', 1)
    transport.want(['b', 'c'])
    await until('the close', () => observed.closed.length === 1)
    expect(observed.closed).toMatchObject([{ peerId: 'c', error: { code: 'PC_LIMIT', peerId: 'c' } }])
    expect(transport.statuses()).toMatchObject([
      { peerId: 'b', state: 'signalled' },
      { peerId: 'c', state: 'closed', error: { code: 'PC_LIMIT' } },
    ])
    const before = clock.next()
    transport.want(['b', 'c'])
    expect(transport.statuses()[1]).toMatchObject({ state: 'signalled', error: { code: 'PC_LIMIT' } })
    expect(fake.made).toBe(1)
    expect(clock.next()).toBeLessThan(before!)
  })

  it('answers an offer that was there before it was wanted', async () => {
    const { transport, signals } = transportOf('b')
    transport.accept('a', offer(1))
    await Promise.resolve()
    expect(signals).toEqual([])
    transport.want(['a'])
    await until('the answer', () => signals.length > 0)
    expect(signals).toMatchObject([{ to: 'a', data: { type: 'answer', attempt: 1 } }])
  })

  it('does not listen to whom it does not want', async () => {
    const { fake, transport, signals } = transportOf('b')
    transport.want(['c'])
    transport.accept('a', offer(1))
    transport.accept('b', offer(1))
    await until('its own offer', () => signals.length > 0)
    expect(signals).toMatchObject([{ to: 'c', data: { type: 'offer' } }])
    expect(fake.made).toBe(1)
  })

  it('begins with the next attempt after a peer was not wanted for a while', async () => {
    const { clock, transport, signals } = transportOf('a')
    transport.want(['b'])
    await until('an offer', () => signals.length === 1)
    transport.want([])
    transport.want(['b'])
    clock.step()
    await until('another', () => signals.length === 2)
    expect(signals.map(({ data }) => data.attempt)).toEqual([1, 2])
  })

  it('does not answer an attempt again that it has given up', async () => {
    const { fake, transport, signals } = transportOf('b')
    transport.want(['a'])
    transport.accept('a', offer(1))
    transport.want([])
    transport.accept('a', offer(1))
    transport.want(['a'])
    expect(fake.made).toBe(1)
    expect(signals.at(-1)).toMatchObject({ data: { type: 'again', attempt: 1 } })
    transport.accept('a', offer(2))
    expect(fake.made).toBe(2)
  })

  it('refuses what is no signal, with the name of its sender', () => {
    const { transport } = transportOf('b')
    expect(() => transport.accept('mallory', { type: 'offer' })).toThrow(ProtocolError)
    expect(() => transport.accept('mallory', { type: 'offer' })).toThrow(/mallory/)
  })

  it('takes no more signals and wishes once it is closed', () => {
    const { fake, transport } = transportOf('b')
    transport.close()
    transport.want(['a', 'c'])
    transport.accept('a', offer(1))
    expect(transport.statuses()).toEqual([])
    expect(fake.made).toBe(0)
  })
})
