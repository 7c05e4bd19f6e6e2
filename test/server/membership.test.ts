/** Seats over reloads, broken connections, duplicated tabs, frozen peers and a restart of the server. */
import { afterEach, describe, expect, test } from 'vitest'
import { VirtualClock } from '../../shared/base/clock.ts'
import { type Accepted, type Bed, startBed, type TestClient } from './client.ts'

let bed: Bed

afterEach(() => bed.close())

async function roomOf(...names: string[]): Promise<{ client: TestClient; seat: Accepted }[]> {
  const people: { client: TestClient; seat: Accepted }[] = []
  for (const name of names) {
    const client = bed.client()
    people.push({ client, seat: await client.accepted({ room: 'demo', name }) })
  }
  for (const { client } of people.slice(0, -1)) await client.view(...names)
  return people
}

test('everybody sees the same list at every epoch', async () => {
  bed = await startBed()
  const people = await roomOf('Ada', 'Bo', 'Cem')
  await people[1]!.client.socket.emitWithAck('leave')
  const views = [await people[0]!.client.view('Ada', 'Cem'), await people[2]!.client.view('Ada', 'Cem')]
  expect(views[0]).toEqual(views[1])
  expect(views[0]!.epoch).toBe(4)
})

describe('coming back', () => {
  test('a reload replaces the old page at once: same name and rank, new identity, no ghost', async () => {
    bed = await startBed()
    const [ada, bo, cem] = await roomOf('Ada', 'Bo', 'Cem')
    bo!.client.drop()
    const page = bed.client()
    const seat = await page.accepted({ room: 'demo', name: 'Ghost', token: bo!.seat.token })
    expect(seat).toMatchObject({ name: 'Bo', token: bo!.seat.token })
    expect(seat.peerId).not.toBe(bo!.seat.peerId)
    expect(seat.view.members.map(({ peerId }) => peerId)).toEqual([
      ada!.seat.peerId,
      seat.peerId,
      cem!.seat.peerId,
    ])
    expect(await ada!.client.next('view')).toEqual(seat.view)
  })

  test('a page that is replaced while its connection seems alive is asked first, and told after', async () => {
    bed = await startBed({ aliveSeconds: 0.1 })
    const [ada, bo] = await roomOf('Ada', 'Bo')
    bo!.client.answers = false
    const seat = await bed.client().accepted({ room: 'demo', token: bo!.seat.token })
    expect(seat.name).toBe('Bo')
    await bo!.client.next('alive')
    expect(await bo!.client.next('removed')).toMatchObject({ cause: 'replaced', code: 'ROOM_CLOSED' })
    expect(await bo!.client.next('disconnect')).toBe('io server disconnect')
    expect(await ada!.client.view('Ada', 'Bo')).toEqual(seat.view)
  })

  test('a page that is gone again before the old one was given up takes nothing', async () => {
    const clock = new VirtualClock()
    bed = await startBed({}, { clock })
    const [, bo] = await roomOf('Ada', 'Bo')
    bo!.client.answers = false
    const hasty = bed.client()
    const unanswered = expect(hasty.join({ room: 'demo', token: bo!.seat.token })).rejects.toThrow(
      'disconnected',
    )
    await bo!.client.next('alive')
    hasty.drop()
    await unanswered
    while (!(await bed.metrics()).includes('papilio_connections 2'));
    const patient = bed.client().accepted({ room: 'demo', token: bo!.seat.token })
    await bo!.client.next('alive')
    while (clock.next()! < 1) clock.step()
    expect(await patient).toMatchObject({ name: 'Bo', view: { epoch: 3 } })
  })

  test('a duplicated tab gets a seat of its own', async () => {
    bed = await startBed({ aliveSeconds: 30 })
    const [ada, bo] = await roomOf('Ada', 'Bo')
    const copy = bed.client()
    const seat = await copy.accepted({ room: 'demo', name: 'Bo', token: bo!.seat.token })
    expect(seat.name).toBe('Bo 2')
    expect(seat.token).not.toBe(bo!.seat.token)
    expect(await ada!.client.view('Ada', 'Bo', 'Bo 2')).toEqual(seat.view)
    expect(bo!.client.heard.some(({ event }) => event === 'removed')).toBe(false)
  })

  test('a broken connection of a living page changes nothing for the others', async () => {
    bed = await startBed()
    const [ada, bo] = await roomOf('Ada', 'Bo')
    bo!.client.drop()
    const { token, peerId } = bo!.seat
    const again = bed.client()
    const seat = await again.accepted({ room: 'demo', token, peerId, known: { epoch: 2, rank: 1 } })
    expect(seat).toMatchObject({ peerId, token, name: 'Bo', view: { epoch: 2 } })
    again.socket.emit('signal', { to: ada!.seat.peerId, data: 'back' })
    expect(await ada!.client.next('signal')).toEqual({ from: peerId, data: 'back' })
    expect(ada!.client.heard.filter(({ event }) => event === 'view').length).toBe(1)
    expect(await bed.metrics()).toContain('papilio_reconnects_total 1')
  })

  test('the same page may move to a new connection although the old one seems alive', async () => {
    bed = await startBed()
    const [, bo] = await roomOf('Ada', 'Bo')
    const { token, peerId } = bo!.seat
    const seat = await bed.client().accepted({ room: 'demo', token, peerId })
    expect(seat).toMatchObject({ peerId, view: { epoch: 2 } })
    expect(bo!.client.heard.some(({ event }) => event === 'alive')).toBe(false)
    await bo!.client.next('removed')
  })

  test('who stays away is put out after the grace time', async () => {
    bed = await startBed({ graceSeconds: 0.1 })
    const [ada, bo] = await roomOf('Ada', 'Bo')
    bo!.client.drop()
    expect((await ada!.client.view('Ada')).epoch).toBe(3)
    expect(await bed.metrics()).toContain('papilio_departures_total{cause="expired"} 1')
  })
})

describe('losing somebody', () => {
  const lost = (peerId: string, epoch: number) => ({ peerId, epoch, reason: 'channel closed' })

  test('a dead member goes as soon as another one has lost it', async () => {
    bed = await startBed({ graceSeconds: 3600 })
    const [ada, bo] = await roomOf('Ada', 'Bo')
    bo!.client.drop()
    ada!.client.socket.emit('lost', lost(bo!.seat.peerId, 2))
    expect((await ada!.client.view('Ada')).epoch).toBe(3)
  })

  test('a frozen member is asked, does not answer, and goes', async () => {
    bed = await startBed({ accusedSeconds: 0.1 })
    const [ada, bo] = await roomOf('Ada', 'Bo')
    bo!.client.answers = false
    ada!.client.socket.emit('lost', lost(bo!.seat.peerId, 2))
    await ada!.client.view('Ada')
    expect(await bo!.client.next('removed')).toMatchObject({ cause: 'lost' })
    // When it wakes up it can take its seat again.
    const { token } = bo!.seat
    expect(await bed.client().accepted({ room: 'demo', token })).toMatchObject({ name: 'Bo' })
  })

  test('a living member stays; all see which pair has no link, until it has one', async () => {
    bed = await startBed({ accusedSeconds: 30 })
    const [ada, bo] = await roomOf('Ada', 'Bo')
    ada!.client.socket.emit('lost', lost(bo!.seat.peerId, 2))
    await bo!.client.next('alive')
    const view = await bo!.client.view('Ada', 'Bo')
    expect(view).toMatchObject({ epoch: 3, blocked: [{ a: ada!.seat.peerId, b: bo!.seat.peerId }] })
    bo!.client.socket.emit('linked', { peerId: ada!.seat.peerId, path: 'failed' })
    bo!.client.socket.emit('host', { action: 'close' })
    await bo!.client.next('refused')
    expect(bo!.client.heard.filter(({ event }) => event === 'view').length).toBe(1)
    bo!.client.socket.emit('linked', { peerId: ada!.seat.peerId, path: 'direct' })
    expect(await bo!.client.view('Ada', 'Bo')).toEqual({ epoch: 3, members: view.members })
    expect(await bed.metrics()).toContain('papilio_ice_result_total{path="direct"} 1')
  })
})

test('the host sends away, locks and closes', async () => {
  bed = await startBed()
  const [ada, bo, cem] = await roomOf('Ada', 'Bo', 'Cem')
  ada!.client.socket.emit('host', { action: 'kick', peerId: bo!.seat.peerId })
  expect(await bo!.client.next('removed')).toMatchObject({ cause: 'kicked' })
  await cem!.client.view('Ada', 'Cem')
  ada!.client.socket.emit('host', { action: 'lock', locked: true })
  cem!.client.socket.emit('host', { action: 'lock', locked: false })
  await cem!.client.next('refused')
  expect(await bed.client().join({ room: 'demo' })).toMatchObject({ ok: false, code: 'ROOM_LOCKED' })
  ada!.client.socket.emit('host', { action: 'close' })
  expect(await cem!.client.next('removed')).toMatchObject({ cause: 'closed' })
  await cem!.client.next('disconnect')
  expect(await bed.client().join({ room: 'demo', create: false })).toMatchObject({ code: 'ROOM_UNKNOWN' })
})

test('after a restart the room comes back with its members, ranks, epoch and host', async () => {
  const secret = 'the same at both starts'
  bed = await startBed({ secret })
  const people = await roomOf('Ada', 'Bo', 'Cem')
  const { view } = people[2]!.seat
  await bed.server.close()
  for (const { client } of people) {
    await client.next('draining')
    await client.next('disconnect')
  }

  bed = await startBed({ secret, port: bed.port })
  const back: { client: TestClient; seat: Accepted }[] = []
  for (const index of [2, 0, 1]) {
    const { token, peerId, name } = people[index]!.seat
    const client = bed.client()
    const known = { epoch: view.epoch, rank: index, members: [...view.members] }
    back.push({
      client,
      seat: await client.accepted({ room: 'demo', create: false, name, token, peerId, known }),
    })
  }
  for (const { seat } of back) expect(seat.view).toEqual(view)
  expect(back.map(({ seat }) => seat.host)).toEqual([false, true, false])
  const fourth = await bed.client().accepted({ room: 'demo', create: false, name: 'Dua' })
  expect(fourth.view.epoch).toBe(view.epoch + 1)
  expect(await back[0]!.client.view('Ada', 'Bo', 'Cem', 'Dua')).toEqual(fourth.view)
})
