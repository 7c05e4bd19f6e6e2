import { describe, expect, it } from 'vitest'
import { type Channel, ChannelLink, highMark, lowMark } from '../../../client/rtc/channelLink.ts'
import { PapilioError } from '../../../shared/base/errors.ts'

/**
 * A channel that a test drains by hand. `late`: its `bufferedAmount` does not change during a run of code. `limit`: above
 * it `send` throws, as Chromium's does at 16 MiB.
 */
function fakeChannel({ late = false, limit = 16 * 1024 * 1024 } = {}) {
  const sent: Uint8Array[] = []
  let asked = 0
  let queued = 0
  let visible = 0
  const settle = () => {
    visible = queued
  }
  const channel = {
    readyState: 'open' as RTCDataChannelState,
    bufferedAmountLowThreshold: 0,
    onmessage: null as Channel['onmessage'],
    onbufferedamountlow: null as Channel['onbufferedamountlow'],
    get bufferedAmount() {
      asked++
      return late ? visible : queued
    },
    send(message: Uint8Array) {
      if (queued + message.byteLength > limit) throw new Error('RTCDataChannel send queue is full')
      sent.push(message.slice())
      queued += message.byteLength
      void Promise.resolve().then(() => Promise.resolve().then(settle))
    },
  }
  return {
    channel: channel as unknown as Channel,
    sent,
    get queued() {
      return queued
    },
    /** How often it was asked how much it holds. */
    get asked() {
      return asked
    },
    /** The network takes bytes; the event comes in a task of its own, as a browser sends it. */
    async drain(bytes: number) {
      const before = queued
      queued = Math.max(0, queued - bytes)
      await nextTask()
      settle()
      if (before > channel.bufferedAmountLowThreshold && queued <= channel.bufferedAmountLowThreshold)
        channel.onbufferedamountlow?.call(
          channel as unknown as RTCDataChannel,
          new Event('bufferedamountlow'),
        )
      await nextTask()
    },
    deliver(data: unknown) {
      channel.onmessage?.call(channel as unknown as RTCDataChannel, new MessageEvent('message', { data }))
    },
  }
}

const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0))

function linkOf(
  fake: ReturnType<typeof fakeChannel>,
  agreed: { maxMessageBytes?: number } = { maxMessageBytes: 262_144 },
) {
  const seen = { messages: [] as Uint8Array[], drains: 0, broken: [] as unknown[] }
  const link = new ChannelLink({
    peerId: 'b',
    channel: fake.channel,
    maxMessageBytes: agreed.maxMessageBytes,
    onMessage: (message) => seen.messages.push(message),
    onDrain: () => seen.drains++,
    onBroken: (error) => seen.broken.push(error),
  })
  return { link, seen }
}

const size = 64 * 1024
const message = (salt: number) => new Uint8Array(size).fill(salt & 255)

describe('a link over a data channel', () => {
  it('says no above the high mark and drains once at the low mark', async () => {
    const fake = fakeChannel()
    const { link, seen } = linkOf(fake)
    const answers = Array.from({ length: highMark / size }, (_, at) => link.send(message(at)))
    expect(answers.every(Boolean)).toBe(true)
    expect(link.send(message(0))).toBe(false)
    expect(link.bufferedBytes).toBe(highMark + size)
    await fake.drain(highMark + size - lowMark - 1)
    expect(seen.drains).toBe(0)
    expect(link.send(message(0))).toBe(false)
    await fake.drain(size + 1)
    expect(seen.drains).toBe(1)
    expect(link.send(message(0))).toBe(true)
    await fake.drain(highMark)
    expect(seen.drains).toBe(1)
  })

  for (const late of [false, true])
    it(`keeps the browser's queue short whatever it is given${late ? ', although it reports late' : ''}`, async () => {
      const fake = fakeChannel({ late })
      const { link, seen } = linkOf(fake)
      const count = 400
      for (let at = 0; at < count; at++) link.send(message(at))
      expect(fake.queued).toBeLessThanOrEqual(highMark + size)
      expect(link.bufferedBytes).toBe(count * size)
      await nextTask()
      for (let turn = 0; fake.sent.length < count; turn++) {
        expect(turn).toBeLessThan(100)
        await fake.drain(highMark)
        expect(fake.queued).toBeLessThanOrEqual(highMark + size)
      }
      await fake.drain(highMark)
      expect(fake.sent.map((sent) => sent[0])).toEqual(Array.from({ length: count }, (_, at) => at & 255))
      expect(seen).toMatchObject({ drains: 1, broken: [] })
      expect(link.bufferedBytes).toBe(0)
    })

  it('goes on when the queue was empty again before the sender asked', async () => {
    // An implementation that sends at once and never has to say that its queue is low.
    const fake = fakeChannel()
    const { link, seen } = linkOf(fake)
    let go = true
    for (let at = 0; at < 40 && go; at++) {
      go = link.send(message(at))
      void fake.drain(size)
    }
    expect(go).toBe(false)
    await nextTask()
    await nextTask()
    expect(seen.drains).toBe(1)
  })

  it('does not ask the channel about its queue while that must be short', async () => {
    const fake = fakeChannel()
    const { link } = linkOf(fake)
    for (let at = 0; at < 64; at++) {
      expect(link.send(new Uint8Array(lowMark / 64))).toBe(true)
      await nextTask()
    }
    expect(fake.asked).toBe(0)
    link.send(new Uint8Array(1))
    expect(fake.asked).toBe(1)
  })

  it('copies what has to wait', async () => {
    const fake = fakeChannel()
    const { link } = linkOf(fake)
    const buffer = message(7)
    for (let at = 0; at < 20; at++) link.send(buffer)
    buffer.fill(9)
    await fake.drain(highMark + size)
    expect(fake.sent).toHaveLength(20)
    expect(fake.sent.every((sent) => sent[0] === 7)).toBe(true)
  })

  it('breaks visibly when the channel refuses a message', () => {
    const fake = fakeChannel({ limit: 3 * size })
    const { link, seen } = linkOf(fake)
    for (let at = 0; at < 3; at++) expect(link.send(message(at))).toBe(true)
    expect(link.send(message(4))).toBe(false)
    expect(seen.broken).toMatchObject([{ message: 'RTCDataChannel send queue is full' }])
    expect(link.bufferedBytes).toBe(0)
    expect(link.send(message(5))).toBe(false)
    expect(fake.sent).toHaveLength(3)
  })

  it('does nothing after it was closed', async () => {
    const fake = fakeChannel()
    const { link, seen } = linkOf(fake)
    for (let at = 0; at < 20; at++) link.send(message(at))
    const handed = fake.sent.length
    link.close()
    fake.deliver(new ArrayBuffer(4))
    await fake.drain(100 * size)
    expect(fake.sent).toHaveLength(handed)
    expect(seen).toEqual({ messages: [], drains: 0, broken: [] })
    expect(link.bufferedBytes).toBe(0)
  })

  it('drops text, and takes bytes as they are', () => {
    const fake = fakeChannel()
    const { seen } = linkOf(fake)
    fake.deliver('hello')
    fake.deliver(new Uint8Array([1, 2, 3]).buffer)
    expect(seen.messages).toEqual([new Uint8Array([1, 2, 3])])
  })

  it.each([
    [{}, 16 * 1024],
    [{ maxMessageBytes: 0 }, 16 * 1024],
    [{ maxMessageBytes: 1000 }, 1000],
    [{ maxMessageBytes: 262_144 }, 262_144],
    [{ maxMessageBytes: Number.POSITIVE_INFINITY }, 262_144],
  ])('limits messages by what the sides agreed on: %o', (agreed, limit) => {
    const { link } = linkOf(fakeChannel(), agreed)
    expect(link.maxMessageBytes).toBe(limit)
    expect(() => link.send(new Uint8Array(limit + 1))).toThrow(PapilioError)
  })
})
