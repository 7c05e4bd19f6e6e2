import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { type Bed, startBed, type TestClient } from './client.ts'

let bed: Bed

afterEach(() => bed.close())

/** Sends a signal to oneself through another member, so that everything sent before has been dealt with. */
async function settle(from: TestClient, to: TestClient, toId: string): Promise<void> {
  const mark = Math.random()
  from.socket.emit('signal', { to: toId, data: { mark } })
  await to.next('signal', (message: { data: { mark?: number } }) => message.data.mark === mark)
}

describe('joining', () => {
  test('a room without a code gets one; the second peer finds the first', async () => {
    bed = await startBed()
    const [a, b] = [bed.client(), bed.client()]
    const ada = await a.accepted({ name: 'Ada' })
    expect(ada.room).toMatch(/^[2-9a-z]{3}-[2-9a-z]{3}$/)
    expect(ada).toMatchObject({ name: 'Ada', host: true, stunPort: bed.stunPort, iceServers: [] })
    expect(bed.stunPort).toBe(bed.port)
    const bo = await b.accepted({ room: ada.room.toUpperCase(), create: false, name: 'Bo', kind: 'tab' })
    expect(bo.host).toBe(false)
    expect(bo.view).toEqual({
      epoch: 2,
      members: [
        { peerId: ada.peerId, name: 'Ada', kind: 'node' },
        { peerId: bo.peerId, name: 'Bo', kind: 'tab' },
      ],
    })
    expect(await a.view('Ada', 'Bo')).toEqual(bo.view)
  })

  test('works over long polling too', async () => {
    bed = await startBed()
    const [a, b] = [bed.client({ transports: ['polling'] }), bed.client({ transports: ['polling'] })]
    const { room, peerId } = await a.accepted({ name: 'Ada' })
    await b.accepted({ room, name: 'Bo' })
    await a.view('Ada', 'Bo')
    await settle(b, a, peerId)
  })

  test.each([
    ['another version', { protocol: 2 }, 'VERSION_MISMATCH', /version 2 .* version 1.*Reload/],
    ['another version, other rules', { protocol: 99, name: 7, kind: {} }, 'VERSION_MISMATCH', /version 99/],
    ['no version', { protocol: 'new' }, 'PROTOCOL', /protocol/],
    ['an unknown room', { room: 'k7f-2q9', create: false }, 'ROOM_UNKNOWN', /no room k7f-2q9/],
    ['no room at all', { create: false }, 'ROOM_UNKNOWN', /no room/],
    ['a bad code', { room: '../etc' }, 'PROTOCOL', /join\.room/],
    ['a long name', { name: 'x'.repeat(33) }, 'PROTOCOL', /join\.name/],
  ])('%s is refused with a code', async (_, request, code, message) => {
    bed = await startBed()
    const reply = await bed.client().join(request)
    expect(reply).toMatchObject({ ok: false, code, message: expect.stringMatching(message) })
    expect(await bed.metrics()).toContain(`papilio_joins_total{result="${code}"} 1`)
  })

  test('a full room and a full server', async () => {
    bed = await startBed({ maxPeersPerRoom: 1, maxRooms: 1 })
    await bed.client().accepted({ room: 'demo' })
    expect(await bed.client().join({ room: 'demo' })).toMatchObject({ ok: false, code: 'ROOM_FULL' })
    expect(await bed.client().join({ room: 'other' })).toMatchObject({ ok: false, code: 'RATE_LIMITED' })
    expect(await bed.metrics()).toContain('papilio_refused_total{code="ROOM_FULL"} 1')
  })

  test('joins from one address are counted', async () => {
    bed = await startBed({ joinsPerMinute: 2 })
    await bed.client().accepted()
    await bed.client().accepted()
    expect(await bed.client().join()).toMatchObject({ ok: false, code: 'RATE_LIMITED' })
  })

  test('behind a proxy every forwarded address has its own count', async () => {
    bed = await startBed({ joinsPerMinute: 1, trustProxy: true })
    const from = async (address: string) => {
      const extraHeaders = { 'x-forwarded-for': `6.6.6.6, ${address}` }
      return (await bed.client({ extraHeaders }).join()).ok
    }
    expect(await from('192.0.2.1')).toBe(true)
    expect(await from('192.0.2.2')).toBe(true)
    expect(await from('192.0.2.1')).toBe(false)
  })

  test('who was refused may try again on the same connection', async () => {
    bed = await startBed()
    const client = bed.client()
    expect(await client.join({ room: 'demo', create: false })).toMatchObject({ code: 'ROOM_UNKNOWN' })
    expect(await client.join({ room: 'x!' })).toMatchObject({ code: 'PROTOCOL' })
    expect(await client.join({ room: 'demo' })).toMatchObject({ ok: true })
  })

  test('one connection has one seat', async () => {
    bed = await startBed()
    const client = bed.client()
    const both = await Promise.all([client.join(), client.join()])
    expect(both.map(({ ok }) => ok)).toEqual([true, false])
    expect(await client.join()).toMatchObject({ ok: false, code: 'PROTOCOL' })
    await client.socket.emitWithAck('leave')
    expect(await client.join()).toMatchObject({ ok: true })
  })
})

describe('relaying', () => {
  test('signals go to the named member of the same room only, with the true sender', async () => {
    bed = await startBed()
    const [a, b, c, x] = [bed.client(), bed.client(), bed.client(), bed.client()]
    const ada = await a.accepted({ room: 'one', name: 'Ada' })
    const bo = await b.accepted({ room: 'one', name: 'Bo' })
    const cem = await c.accepted({ room: 'one', name: 'Cem' })
    const eve = await x.accepted({ room: 'two', name: 'Eve' })
    x.raw('signal', { to: bo.peerId, from: ada.peerId, data: { type: 'offer', sdp: 'evil' } })
    x.raw('signal', { to: eve.peerId, data: 'to myself' })
    a.raw('signal', { to: bo.peerId, from: cem.peerId, data: { type: 'offer', sdp: 'good' } })
    expect(await b.next('signal')).toEqual({ from: ada.peerId, data: { type: 'offer', sdp: 'good' } })
    await settle(a, b, bo.peerId)
    await settle(b, c, cem.peerId)
    await settle(b, a, ada.peerId)
    // Eve has heard and caused nothing; Cem only the mark.
    const signals = (client: TestClient) => client.heard.filter(({ event }) => event === 'signal').length
    expect([signals(a), signals(b), signals(c), signals(x)]).toEqual([1, 2, 1, 0])
    expect(x.heard.filter(({ event }) => event === 'view')).toEqual([])
    expect(await bed.metrics()).toMatch(/papilio_signal_messages_total\{type="offer"\} 1\n/)
  })

  test('who has no seat can send nothing', async () => {
    bed = await startBed()
    const [a, b] = [bed.client(), bed.client()]
    const { peerId } = await a.accepted()
    b.raw('signal', { to: peerId, data: 1 })
    expect(await b.next('refused')).toMatchObject({
      code: 'PROTOCOL',
      message: expect.stringMatching(/^signal: .*join first/),
    })
    expect(a.heard.some(({ event }) => event === 'signal')).toBe(false)
  })

  test('a signal that is too large is refused, and the connection lives on', async () => {
    bed = await startBed()
    const [a, b] = [bed.client(), bed.client()]
    const { room, peerId } = await a.accepted()
    await b.accepted({ room })
    b.raw('signal', { to: peerId, data: 'x'.repeat(17_000) })
    expect(await b.next('refused')).toMatchObject({
      code: 'PROTOCOL',
      message: expect.stringContaining('16384'),
    })
    await settle(b, a, peerId)
  })

  test('127 links with 30 candidates each pass; a flood is dropped, and told once', async () => {
    bed = await startBed()
    const [a, b] = [bed.client(), bed.client()]
    const { room, peerId } = await a.accepted()
    const bo = await b.accepted({ room })
    const candidate = { type: 'candidate', candidate: { candidate: 'c'.repeat(150), sdpMid: '0' } }
    for (let link = 0; link < 127; link++) {
      b.raw('signal', { to: peerId, data: { type: 'offer', sdp: 's'.repeat(3000) } })
      for (let index = 0; index < 30; index++) b.raw('signal', { to: peerId, data: candidate })
    }
    await settle(b, a, peerId)
    expect(b.heard.filter(({ event }) => event === 'refused')).toEqual([])
    expect(a.heard.filter(({ event }) => event === 'signal').length).toBe(127 * 31 + 1)
    for (let index = 0; index < 1000; index++) b.raw('signal', { to: peerId, data: 'f'.repeat(10_000) })
    expect(await b.next('refused')).toMatchObject({ code: 'RATE_LIMITED' })
    // Everybody else goes on, and the flood has not come through.
    await settle(a, b, bo.peerId)
    expect(b.heard.filter(({ event }) => event === 'refused').length).toBe(1)
    expect(a.heard.filter(({ event }) => event === 'signal').length).toBeLessThan(127 * 31 + 500)
  })
})

describe('what nobody should send', () => {
  test('is refused with a code and a sentence, and harms nobody', async () => {
    bed = await startBed()
    const [a, b] = [bed.client(), bed.client()]
    const { room, peerId } = await a.accepted()
    await b.accepted({ room })
    const wrong: [string, ...unknown[]][] = [
      ['join'],
      ['join', null],
      ['join', { protocol: 1 }],
      ['signal'],
      ['signal', 'x', () => {}],
      ['signal', { to: { $ne: 1 }, data: 1 }],
      ['signal', { to: [peerId], data: 1 }],
      ['lost', { peerId, epoch: 'now', reason: 'x' }],
      ['lost', { peerId, epoch: 1, reason: 'x'.repeat(500) }],
      ['linked', { peerId, path: '__proto__' }],
      ['ran', { seconds: -1 }],
      ['host', { action: 'close' }],
      ['host', { action: 'explode' }],
      ['toString', 1],
      ['__proto__', 1],
      ['view', { epoch: 99, members: [] }],
      ['nonsense'.repeat(100), new Uint8Array(100)],
    ]
    for (const [event, ...args] of wrong) {
      b.raw(event, ...args)
      const { code, message } = await b.next<{ code: string; message: string }>('refused')
      expect(code, event).toBe('PROTOCOL')
      expect(message.length, event).toBeLessThanOrEqual(200)
    }
    await settle(b, a, peerId)
  })

  test('bytes that are no event end that connection alone', async () => {
    bed = await startBed()
    const [a, b, c] = [bed.client(), bed.client(), bed.client()]
    const { room, peerId } = await a.accepted()
    await b.accepted({ room })
    await c.accepted({ room })
    for (const packet of ['4{"broken', '2["join"', '451-["signal",{"_placeholder":true,"num":9}]']) {
      const victim = bed.client()
      await victim.accepted()
      victim.socket.io.engine.write(packet)
      await victim.next('disconnect')
    }
    c.raw('signal', { to: peerId, data: 'x'.repeat(100_000) })
    await c.next('disconnect')
    await settle(b, a, peerId)
  })

  test('random events never end the process', async () => {
    bed = await startBed()
    const [a, b] = [bed.client(), bed.client()]
    const { room, peerId } = await a.accepted()
    await b.accepted({ room })
    const names = ['join', 'signal', 'lost', 'linked', 'ran', 'host', 'alive']
    const events = fc.array(
      fc.tuple(fc.constantFrom(...names), fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 3 })),
      { maxLength: 20 },
    )
    await fc.assert(
      fc.asyncProperty(events, async (sent) => {
        for (const [event, args] of sent) b.raw(event, ...args)
        await settle(b, a, peerId)
      }),
      { numRuns: 50 },
    )
  })
})

test('a server for some origins turns the pages of others away', async () => {
  bed = await startBed({ origins: ['https://lab.example'] })
  const ask = async (origin: string) => {
    const url = `${bed.url}/socket.io/?EIO=4&transport=polling`
    return (await fetch(url, { headers: { origin } })).status
  }
  expect(await ask('https://lab.example')).toBe(200)
  expect(await ask(bed.url)).toBe(200)
  expect(await ask('https://evil.example')).toBe(403)
})

test('connections are counted', async () => {
  bed = await startBed({ maxConnections: 1 })
  await bed.client().accepted()
  const second = bed.client()
  await second.next('connect_error')
})
