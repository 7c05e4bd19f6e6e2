/** The one suite that every transport passes. A fixture makes peers of one network. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LinkError, PapilioError } from '../../shared/base/errors.ts'
import type { Link, LinkStatus, Transport } from '../../shared/transport/types.ts'

export interface TransportFixture {
  create(peerId: string): Transport
  /** The peer goes away as a closed tab does: without a word to its transport. */
  vanish(peerId: string): void
  /** Connection attempts that peers have started so far, when the fixture can count them. */
  attempts?(): number
  dispose(): void | Promise<void>
}

export interface TransportLimits {
  /** `send` answers false above this many bytes. */
  highMark: number
  /** Bytes of the back-pressure test. */
  bulkBytes?: number
}

/** Waits for a condition, polling by the event loop; fails with what was awaited. */
export async function until(what: string, condition: () => boolean, seconds = 10): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Waited ${seconds} s for: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Bytes that tell position and message apart. */
export function pattern(bytes: number, salt: number): Uint8Array {
  const message = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at++) message[at] = (at * 31 + salt * 7 + (at >> 8)) & 255
  return message
}

/** A transport with everything that it said. */
export interface Observed {
  transport: Transport
  opened: Link[]
  closed: { peerId: string; error: LinkError }[]
  statuses: LinkStatus[]
  received: { peerId: string; message: Uint8Array }[]
  drains: string[]
  link(peerId: string): Link
}

export function observe(transport: Transport, options: { receive: boolean } = { receive: true }): Observed {
  const observed: Observed = {
    transport,
    opened: [],
    closed: [],
    statuses: [],
    received: [],
    drains: [],
    link(peerId) {
      const link = transport.link(peerId)
      if (!link) throw new Error(`${transport.selfId} has no link to ${peerId}`)
      return link
    },
  }
  transport.on('open', (link) => observed.opened.push(link))
  transport.on('close', (close) => observed.closed.push(close))
  transport.on('status', (status) => observed.statuses.push(status))
  if (options.receive) receive(observed)
  return observed
}

export function receive(observed: Observed): void {
  observed.transport.receive({
    message: (peerId, message) => observed.received.push({ peerId, message }),
    drain: (peerId) => observed.drains.push(peerId),
  })
}

/** Waits until the two are linked in both directions. */
export async function linked(a: Observed, b: Observed, seconds = 15): Promise<void> {
  const [idA, idB] = [a.transport.selfId, b.transport.selfId]
  await until(
    `a link between ${idA} and ${idB}`,
    () => a.transport.link(idB) !== undefined && b.transport.link(idA) !== undefined,
    seconds,
  )
}

export function describeTransport(
  name: string,
  createFixture: () => TransportFixture | Promise<TransportFixture>,
  { highMark, bulkBytes = 64 * 1024 * 1024 }: TransportLimits,
): void {
  describe(`transport: ${name}`, () => {
    let fixture: TransportFixture
    let a: Observed
    let b: Observed

    beforeEach(async () => {
      fixture = await createFixture()
      a = observe(fixture.create('a'))
      b = observe(fixture.create('b'))
    })
    afterEach(async () => {
      a.transport.close()
      b.transport.close()
      await fixture.dispose()
    })

    const connect = () => {
      a.transport.want(['b'])
      b.transport.want(['a'])
      return linked(a, b)
    }
    const messages = (observed: Observed) => observed.received.map(({ message }) => message)

    it('opens a link when both sides want it, with a status for people', async () => {
      a.transport.want(['b'])
      expect(a.transport.link('b')).toBeUndefined()
      expect(a.transport.statuses()).toMatchObject([{ peerId: 'b', state: 'signalled' }])
      b.transport.want(['a'])
      await linked(a, b)
      expect(a.opened.map((link) => link.peerId)).toEqual(['b'])
      expect(b.opened.map((link) => link.peerId)).toEqual(['a'])
      expect(a.transport.link('b')).toBe(a.opened[0])
      const states = a.statuses.map(({ state }) => state)
      expect(states.filter((state, at) => state !== states[at - 1])).toEqual([
        'signalled',
        'checking',
        'open',
      ])
      await until(
        'the path of the link',
        () => a.transport.statuses()[0]?.path !== 'unknown' && b.transport.statuses()[0]?.path !== 'unknown',
      )
    })

    it('carries messages whole and in order, both ways, of every size', async () => {
      await connect()
      const max = Math.min(a.link('b').maxMessageBytes, b.link('a').maxMessageBytes)
      const sizes = [0, 1, 31, 1024, 0, max - 1, max]
      const sent = sizes.map((bytes, salt) => pattern(bytes, salt))
      for (const message of sent) {
        a.link('b').send(message)
        b.link('a').send(message)
      }
      await until('all messages', () => a.received.length >= sent.length && b.received.length >= sent.length)
      for (const observed of [a, b]) {
        expect(messages(observed).map(({ byteLength }) => byteLength)).toEqual(sizes)
        for (const [at, message] of messages(observed).entries()) expect(equal(message, sent[at]!)).toBe(true)
      }
    })

    it('refuses a message over the limit, and carries on', async () => {
      await connect()
      const link = a.link('b')
      const tooLarge = new Uint8Array(link.maxMessageBytes + 1)
      expect(() => link.send(tooLarge)).toThrow(PapilioError)
      expect(() => link.send(tooLarge)).toThrow(/\d+ bytes to b .* limit/)
      link.send(pattern(5, 1))
      await until('the next message', () => b.received.length > 0)
      expect(messages(b)).toEqual([pattern(5, 1)])
    })

    it('copies on send, and never writes to a message that it delivered', async () => {
      await connect()
      const buffer = pattern(1000, 0)
      for (let salt = 0; salt < 20; salt++) {
        buffer.set(pattern(1000, salt))
        a.link('b').send(buffer)
      }
      // A view into a larger buffer: only the view travels.
      a.link('b').send(pattern(64, 9).subarray(16, 48))
      buffer.fill(255)
      await until('all messages', () => b.received.length === 21)
      await new Promise((resolve) => setTimeout(resolve, 20))
      const got = messages(b)
      for (let salt = 0; salt < 20; salt++) expect(equal(got[salt]!, pattern(1000, salt))).toBe(true)
      expect(got[20]).toEqual(pattern(64, 9).slice(16, 48))
    })

    it('keeps messages that come before there is a handler', async () => {
      const c = observe(fixture.create('c'), { receive: false })
      a.transport.want(['c'])
      c.transport.want(['a'])
      a.transport.on('open', (link) => {
        for (let salt = 0; salt < 50; salt++) link.send(pattern(100, salt))
      })
      await linked(a, c)
      await until('an empty queue', () => a.link('c').bufferedBytes === 0)
      await new Promise((resolve) => setTimeout(resolve, 20))
      receive(c)
      await until('all messages', () => c.received.length === 50)
      for (const [salt, message] of messages(c).entries()) expect(message).toEqual(pattern(100, salt))
      c.transport.close()
    })

    it('holds back a fast sender: bounded queue, a drain for each stop, nothing lost', async () => {
      await connect()
      const link = a.link('b')
      const size = Math.min(64 * 1024, link.maxMessageBytes)
      const count = Math.ceil(bulkBytes / size)
      const message = pattern(size, 3)
      let sent = 0
      let stops = 0
      let highest = 0
      const pump = () => {
        while (sent < count) {
          message[0] = sent & 255
          message[1] = sent >> 8
          sent++
          const go = link.send(message)
          highest = Math.max(highest, link.bufferedBytes)
          if (!go) {
            stops++
            return
          }
        }
      }
      let drains = 0
      a.transport.receive({
        message() {},
        drain(peerId) {
          expect(peerId).toBe('b')
          expect(link.bufferedBytes).toBeLessThan(highMark)
          drains++
          pump()
        },
      })
      let received = 0
      let wrong = 0
      b.transport.receive({
        message(_peerId, got) {
          if (got.byteLength !== size || got[0] !== (received & 255) || got[1] !== received >> 8) wrong++
          received++
          // A receiver with work to do.
          const busy = performance.now() + 0.2
          while (performance.now() < busy);
        },
        drain() {},
      })
      pump()
      expect(stops).toBe(1)
      await until('all of it', () => received === count, 50)
      expect(wrong).toBe(0)
      expect(highest).toBeLessThanOrEqual(highMark + size)
      await until('the last drain', () => drains === stops)
      expect(stops).toBeGreaterThan(bulkBytes / highMark / 4)
      await until('an empty queue', () => link.bufferedBytes === 0)
    })

    it('keeps what is sent in spite of a full queue', async () => {
      await connect()
      const link = a.link('b')
      const size = Math.min(64 * 1024, link.maxMessageBytes)
      // Twenty times the mark in one go: over what a browser's own queue takes (16 MiB).
      const count = Math.ceil((20 * highMark) / size)
      for (let at = 0; at < count; at++) link.send(pattern(size, at))
      expect(link.bufferedBytes).toBeGreaterThan(highMark)
      await until('all messages', () => b.received.length === count, 30)
      for (const [at, message] of messages(b).entries()) {
        if (!equal(message, pattern(size, at))) throw new Error(`message ${at} is wrong`)
      }
      expect(a.drains).toEqual(['b'])
    })

    it('reports a close to both sides, with a reason, and sends nothing after it', async () => {
      await connect()
      const [linkA, linkB] = [a.link('b'), b.link('a')]
      a.transport.want([])
      expect(a.transport.link('b')).toBeUndefined()
      await until('close on both sides', () => a.closed.length === 1 && b.closed.length === 1, 2)
      expect(a.closed[0]).toMatchObject({ peerId: 'b', error: { code: 'CHANNEL_CLOSED', peerId: 'b' } })
      expect(b.closed[0]).toMatchObject({ peerId: 'a', error: { code: 'CHANNEL_CLOSED', peerId: 'a' } })
      expect(b.closed[0]!.error.message).toContain('a')
      expect(b.transport.link('a')).toBeUndefined()
      expect(b.transport.statuses()).toMatchObject([{ peerId: 'a', state: 'closed' }])
      for (const link of [linkA, linkB]) {
        expect(link.send(pattern(10, 1))).toBe(false)
        expect(link.bufferedBytes).toBe(0)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(a.received).toEqual([])
      expect(b.received).toEqual([])
    })

    it('reports a peer that vanishes within 2 s', async () => {
      await connect()
      fixture.vanish('b')
      await until('close', () => a.closed.length === 1, 2)
      expect(a.closed[0]).toMatchObject({ peerId: 'b', error: { code: 'CHANNEL_CLOSED', peerId: 'b' } })
      expect(a.transport.link('b')).toBeUndefined()
    })

    it('does nothing when asked again for what there is', async () => {
      await connect()
      const link = a.link('b')
      a.transport.want(['b'])
      a.transport.want(['b', 'b', 'a'])
      b.transport.want(['a'])
      link.send(pattern(3, 1))
      await until('the message', () => b.received.length === 1)
      expect(a.link('b')).toBe(link)
      expect(a.opened).toHaveLength(1)
      expect(b.opened).toHaveLength(1)
      expect(a.transport.statuses()).toHaveLength(1)
      expect(a.closed).toEqual([])
    })

    it('opens what is missing and closes what is not wanted', async () => {
      const c = observe(fixture.create('c'))
      await connect()
      a.transport.want(['c'])
      c.transport.want(['a', 'b'])
      await linked(a, c)
      await until('close on both sides', () => a.closed.length === 1 && b.closed.length === 1, 2)
      expect(a.transport.statuses().map(({ peerId }) => peerId)).toEqual(['c'])
      // b has not asked for c: no link may come of c's wish alone.
      expect(c.transport.link('b')).toBeUndefined()
      b.transport.want(['c'])
      await linked(b, c)
      c.transport.close()
    })

    it('opens again after a close, time after time', async () => {
      await connect()
      for (let time = 1; time <= 3; time++) {
        const sides = time % 2 === 1 ? [a, b] : [b, a]
        sides[0]!.transport.want([])
        await until('close on both sides', () => a.closed.length === time && b.closed.length === time, 2)
        await connect()
        a.link('b').send(pattern(8, time))
        await until('the message', () => b.received.length === time)
        expect(messages(b)[time - 1]).toEqual(pattern(8, time))
      }
    })

    it('makes one link when both sides want each other at the same moment, whoever is quicker', async () => {
      const before = fixture.attempts?.() ?? 0
      const peers = ['p1', 'p2', 'p3', 'p4'].map((peerId) => observe(fixture.create(peerId)))
      const ids = peers.map(({ transport }) => transport.selfId)
      for (const { transport } of [...peers].reverse()) transport.want(ids)
      for (const [at, peer] of peers.entries()) {
        for (const other of peers.slice(at + 1)) await linked(peer, other)
      }
      for (const peer of peers) {
        expect(peer.opened.map(({ peerId }) => peerId).sort()).toEqual(
          ids.filter((id) => id !== peer.transport.selfId),
        )
        expect(peer.closed).toEqual([])
      }
      // One connection has two ends.
      if (fixture.attempts) expect(fixture.attempts() - before).toBe(12)
      for (const { transport } of peers) transport.close()
    })

    it('closes all links when the transport closes, and stays silent afterwards', async () => {
      await connect()
      a.transport.close()
      await until('close', () => b.closed.length === 1, 2)
      const said = a.statuses.length
      a.transport.want(['b'])
      a.transport.close()
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(a.transport.link('b')).toBeUndefined()
      expect(a.statuses).toHaveLength(said)
    })
  })
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, at) => byte === b[at])
}
