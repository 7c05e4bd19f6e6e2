/** Seats against the real server; no WebRTC. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Seat, takeSeat } from '../../../client/rtc/seat.ts'
import { createSeatStore, type SeatStore } from '../../../client/rtc/seatStore.ts'
import { createServer, type PapilioServer } from '../../../server/app.ts'
import { realClock } from '../../../shared/base/clock.ts'
import { until } from '../../compliance/transport.ts'

let server: PapilioServer
let url: URL
let clients: Seat[]

async function start(port = 0, options: Parameters<typeof createServer>[0] = {}) {
  server = createServer({ port, host: '127.0.0.1', graceSeconds: 2, ...options })
  const listening = await server.listen()
  url = new URL(`http://127.0.0.1:${listening.port}`)
}

/** Stops the server and starts another one at the same address. */
async function restart(whileAway = async () => {}) {
  const port = Number(url.port)
  await server.close()
  await whileAway()
  await start(port)
}

beforeEach(async () => {
  clients = []
  await start()
})
afterEach(async () => {
  for (const client of clients) client.close()
  await server.close()
})

interface Wish {
  room?: string
  name?: string
  seats?: SeatStore
  create?: boolean
}

async function connect({ room, name = 'Ada', seats, create = room === undefined }: Wish = {}): Promise<Seat> {
  const client = await takeSeat({
    url,
    room,
    create,
    name,
    kind: 'tab',
    seats,
    clock: realClock,
    patienceSeconds: 5,
  })
  clients.push(client)
  return client
}

function storage(): SeatStore {
  const items = new Map<string, string>()
  return createSeatStore(
    {
      getItem: (key) => items.get(key) ?? null,
      setItem: (key, value) => items.set(key, value),
      removeItem: (key) => items.delete(key),
    },
    url.origin,
  )
}

const names = (client: Seat) => client.view()?.members.map(({ name }) => name)
const ids = (client: Seat) => client.view()?.members.map(({ peerId }) => peerId)

describe('a seat', () => {
  it('gets a seat, a room, a name and the view', async () => {
    const host = await connect()
    expect(host.room).toMatch(/^[a-z0-9-]+$/)
    expect(host.isHost).toBe(true)
    const guest = await connect({ room: host.room })
    expect(guest.isHost).toBe(false)
    expect(guest.name).not.toBe('Ada')
    expect(ids(guest)).toEqual([host.selfId, guest.selfId])
    await until('the view', () => ids(host)?.length === 2)
    expect(host.state).toEqual({ name: 'connected' })
  })

  it('offers the STUN responder of the server at the host that it was reached at', async () => {
    const client = await connect()
    const [own] = client.iceServers
    if (own) expect(own.urls).toMatch(/^stun:127\.0\.0\.1:\d+$/)
    await server.close()
    await start(0, { stunPort: 0, iceServers: [{ urls: 'stun:stun.example:3478' }] })
    const other = await connect()
    expect(other.iceServers).toEqual([{ urls: 'stun:stun.example:3478' }])
  })

  it('carries signals, and keeps those that come before somebody listens', async () => {
    const a = await connect()
    const b = await connect({ room: a.room })
    const heard: unknown[] = []
    for (let at = 0; at < 3; at++) a.signal(b.selfId, { at })
    await new Promise((resolve) => setTimeout(resolve, 50))
    b.receiveSignals((from, data) => heard.push([from, data]))
    a.signal(b.selfId, { at: 3 })
    await until('the signals', () => heard.length === 4)
    expect(heard).toEqual([0, 1, 2, 3].map((at) => [a.selfId, { at }]))
  })

  it('comes back after the server was away: same seat, same epoch, and what it had to say', async () => {
    const a = await connect()
    const b = await connect({ room: a.room })
    await until('the view', () => ids(a)?.length === 2)
    const before = { view: a.view(), peerIds: [a.selfId, b.selfId] }
    const heard: unknown[] = []
    b.receiveSignals((_, data) => heard.push(data))
    const states: string[] = []
    a.on('state', ({ name }) => states.push(name))
    await restart(async () => {
      await until('both to notice', () => [a, b].every(({ state }) => state.name === 'reconnecting'))
      a.signal(b.selfId, 'sent while the server was away')
    })
    await until('both', () => [a, b].every(({ state }) => state.name === 'connected'), 10)
    expect(states).toEqual(['reconnecting', 'connected'])
    expect([a.selfId, b.selfId]).toEqual(before.peerIds)
    expect(a.view()).toEqual(before.view)
    expect(b.view()).toEqual(before.view)
    a.signal(b.selfId, 'sent afterwards')
    await until('the later signal', () => heard.includes('sent afterwards'))
    // Twice in a row, since recovery that works once is not enough.
    await restart()
    await until('both', () => [a, b].every(({ state }) => state.name === 'connected'), 10)
    expect(a.view()).toEqual(before.view)
  })

  it('tells the server of a lost link, even one that was lost while it was away', async () => {
    const a = await connect()
    const b = await connect({ room: a.room })
    await until('the view', () => ids(a)?.length === 2)
    a.reportLost(b.selfId, 'x'.repeat(1000), true)
    await until('the complaint', () => a.view()?.blocked?.length === 1)
    expect(a.view()?.blocked).toMatchObject([{ reason: 'x'.repeat(200) }])
    a.reportLink(b.selfId, 'direct')
    await until('its end', () => a.view()?.blocked === undefined)
    const { epoch } = a.view()!
    await restart(async () => {
      await until('both to notice', () => [a, b].every(({ state }) => state.name === 'reconnecting'))
      a.reportLost(b.selfId, 'lost meanwhile', true)
      a.reportLost(b.selfId, 'cannot be made again', false)
    })
    await until('the complaint', () => a.view()?.blocked?.[0]?.reason === 'lost meanwhile', 10)
    expect(ids(a)).toEqual([a.selfId, b.selfId])
    expect(a.view()!.epoch).toBe(epoch + 1)
  })

  it('gives the seat back to a page that is loaded again', async () => {
    const seats = storage()
    const host = await connect()
    const first = await connect({ room: host.room, name: 'Bo', seats })
    const old = first.selfId
    first.close()
    const second = await connect({ room: host.room, name: 'whoever', seats })
    expect(second.name).toBe('Bo')
    expect(second.selfId).not.toBe(old)
    await until('the new view', () => ids(host)?.join() === `${host.selfId},${second.selfId}`)
  })

  it('keeps name and place for a peer that only the others have lost', async () => {
    const seats = storage()
    const host = await connect()
    const first = await connect({ room: host.room, name: 'Bo', seats })
    const other = await connect({ room: host.room, name: 'Cem' })
    await until('the view', () => [host, other].every((client) => ids(client)?.length === 3))
    for (const witness of [host, other]) witness.reportLost(first.selfId, 'no link', false)
    await until('the removal', () => first.state.name === 'gone')
    expect(first.state).toMatchObject({ cause: 'unreachable' })
    const again = await connect({ room: host.room, name: 'whoever', seats })
    expect(names(again)).toEqual([host.name, 'Bo', 'Cem'])
  })

  it('leaves its seat to the page that was there first when a tab is duplicated', async () => {
    const seats = storage()
    const host = await connect()
    const first = await connect({ room: host.room, name: 'Bo', seats })
    const copy = await connect({ room: host.room, name: 'Bo', seats })
    expect(copy.selfId).not.toBe(first.selfId)
    expect(copy.name).not.toBe('Bo')
    await until('three', () => ids(host)?.length === 3)
    expect(first.state).toEqual({ name: 'connected' })
  })

  it('has nothing to give back after it left', async () => {
    const seats = storage()
    const host = await connect()
    const first = await connect({ room: host.room, name: 'Bo', seats })
    await first.leave()
    expect(seats.load(host.room)).toBeUndefined()
    expect(first.state).toEqual({ name: 'gone' })
    await until('the host alone', () => names(host)?.length === 1)
  })

  it('ends with a view without this peer when it is sent away', async () => {
    const host = await connect()
    const guest = await connect({ room: host.room })
    const views: (string[] | undefined)[] = []
    guest.onView(() => views.push(ids(guest)))
    host.host({ action: 'kick', peerId: guest.selfId })
    await until('the end', () => guest.state.name === 'gone')
    expect(guest.state).toMatchObject({ name: 'gone', cause: 'kicked', error: { code: 'ROOM_CLOSED' } })
    expect(views).toEqual([[host.selfId]])
    guest.signal(host.selfId, 'too late')
    await guest.leave()
    await guest.leave()
  })

  it('passes refusals on', async () => {
    const host = await connect()
    const guest = await connect({ room: host.room })
    const refused = new Promise((resolve) => guest.on('refused', resolve))
    guest.host({ action: 'close' })
    await expect(refused).resolves.toMatchObject({ code: 'PROTOCOL' })
    await expect(connect({ room: 'nowhere-to-be-found' })).rejects.toMatchObject({ code: 'ROOM_UNKNOWN' })
  })

  it('gives up a seat that it cannot have again', async () => {
    const client = await connect()
    const guest = await connect({ room: client.room })
    await until('the view', () => ids(client)?.length === 2)
    const port = Number(url.port)
    await server.close()
    // A server with room for one does not have this group again: both have to come in anew, and one of them can.
    await start(port, { maxPeersPerRoom: 1 })
    await until('both gone', () => [client, guest].every(({ state }) => state.name === 'gone'))
    for (const gone of [client, guest]) {
      expect(gone.state).toMatchObject({ cause: 'lost', error: { code: 'ROOM_CLOSED' } })
      expect(ids(gone)).not.toContain(gone.selfId)
    }
    await connect({ room: client.room, create: true })
    await expect(connect({ room: client.room })).rejects.toMatchObject({ code: 'ROOM_FULL' })
  })
})
