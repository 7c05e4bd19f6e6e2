import { describe, expect, test } from 'vitest'
import { membersOf, viewOf } from '../../../shared/membership/roomStep.ts'
import { Driver, testSettings } from './driver.ts'

const names = (driver: Driver) => membersOf(driver.room).map(({ name }) => name)

function roomOf(...people: string[]) {
  const driver = new Driver()
  const clients = people.map((name, index) => driver.join({ name, host: index === 0 })!)
  return { driver, clients }
}

describe('join', () => {
  test('ranks are the order of joining, and each join is one epoch', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    expect(names(driver)).toEqual(['Ada', 'Bo', 'Cem'])
    expect(clients.map(({ view }) => view.epoch)).toEqual([3, 3, 3])
  })

  test('a taken name gets a number, an empty one is made up, a hidden character does not make a difference', () => {
    const { driver } = roomOf('Mia', 'mia', 'M\u200bia', '  \u202e ')
    expect(names(driver).slice(0, 3)).toEqual(['Mia', 'mia 2', 'Mia 3'])
    expect(names(driver)[3]).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+$/)
  })

  test('a full room refuses newcomers and still takes back who is in it', () => {
    const { driver, clients } = roomOf('A', 'B', 'C', 'D', 'E', 'F')
    const refused = driver.play(driver.freshJoin({ name: 'G' }))
    expect(refused.effects).toEqual([
      {
        type: 'refuse',
        connection: 'c7',
        code: 'ROOM_FULL',
        message: 'This room is full: 6 of 6 seats are taken.',
      },
    ])
    driver.play({ type: 'disconnect', connection: clients[2]!.connection })
    expect(driver.join({ token: clients[2]!.token })?.name).toBe('C')
  })

  test('a closed room refuses everybody', () => {
    const { driver, clients } = roomOf('Ada')
    driver.play({ type: 'close', connection: clients[0]!.connection })
    expect(driver.play(driver.freshJoin()).effects).toMatchObject([{ type: 'refuse', code: 'ROOM_CLOSED' }])
  })
})

describe('coming back', () => {
  test('a reload takes the seat and the name with a new identity, in one epoch, and the old page is told', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const [, bo] = clients
    const { effects, reason } = driver.play(driver.freshJoin({ name: 'Other', token: bo!.token }))
    expect(reason).toBe('replaced')
    expect(effects[0]).toMatchObject({ type: 'removed', connection: bo!.connection, cause: 'replaced' })
    expect(names(driver)).toEqual(['Ada', 'Bo', 'Cem'])
    expect(driver.room.epoch).toBe(4)
    expect(viewOf(driver.room).members[1]!.peerId).not.toBe(bo!.peerId)
  })

  test('the same incarnation keeps identity and epoch when its connection broke', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const [, { connection, token, peerId }] = clients as [unknown, (typeof clients)[number]]
    driver.play({ type: 'disconnect', connection })
    const timer = driver.openTimers.at(-1)!
    expect(driver.play(driver.freshJoin({ token, peerId, kind: 'node' })).reason).toBe('reconnected')
    expect(driver.play({ type: 'expire', timer }).reason).toBe('stale')
    expect(driver.room.epoch).toBe(3)
    expect(driver.clients.get('c4')).toMatchObject({ peerId, token, name: 'Bo' })
  })

  test('the old connection of a reconnected member ends without an effect', () => {
    const { driver, clients } = roomOf('Ada', 'Bo')
    const { connection, token, peerId } = clients[1]!
    driver.join({ token, peerId })
    expect(driver.play({ type: 'disconnect', connection }).reason).toBe('stale')
    expect(names(driver)).toEqual(['Ada', 'Bo'])
  })

  test('the grace time over, the seat is lost, and given back to its owner at its old place', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    driver.play({ type: 'disconnect', connection: clients[0]!.connection })
    driver.play({ type: 'expire', timer: driver.openTimers.at(-1)! })
    expect(names(driver)).toEqual(['Bo', 'Cem'])
    driver.join({ name: 'ada' })
    driver.join({ token: clients[0]!.token })
    expect(names(driver)).toEqual(['Ada 2', 'Bo', 'Cem', 'ada'])
  })

  test('who was out of the view, and does not know it, is told so and does not come back as it was', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const { connection, token, peerId } = clients[0]!
    driver.play({ type: 'disconnect', connection })
    driver.play({ type: 'expire', timer: driver.openTimers.at(-1)! })
    const event = driver.freshJoin({ token, peerId, known: { epoch: 3, rank: 0 } })
    expect(driver.play(event)).toMatchObject({
      reason: 'refused',
      effects: [{ type: 'removed', connection: event.connection, cause: 'lost' }],
    })
    expect(driver.room.epoch).toBe(4)
    // Its next incarnation has its name and place.
    expect(driver.join({ token })!.peerId).not.toBe(peerId)
    expect(names(driver)).toEqual(['Ada', 'Bo', 'Cem'])
  })

  test('seats of people who are gone are remembered up to a limit', () => {
    const { driver, clients } = roomOf('Ada')
    for (let count = 0; count < 20; count++) {
      driver.play({ type: 'leave', connection: driver.join({ name: `Guest ${count}` })!.connection })
    }
    expect(driver.room.seats.length).toBe(1 + 2 * testSettings.maxMembers)
    expect(driver.join({ token: 't2' })?.token).not.toBe('t2')
    expect(driver.join({ token: 't21' })?.token).toBe('t21')
    expect(clients[0]!.view.members.length).toBe(3)
  })
})

describe('losing somebody', () => {
  const lost = (connection: string, peerId: string, epoch = 3) =>
    ({ type: 'lost', connection, peerId, epoch, reason: 'channel closed' }) as const

  test('a member without a connection that another member has lost goes at once, whichever came first', () => {
    for (const order of ['lost first', 'disconnect first']) {
      const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
      const report = lost(clients[0]!.connection, clients[2]!.peerId)
      const end = { type: 'disconnect', connection: clients[2]!.connection } as const
      for (const event of order === 'lost first' ? [report, end] : [end, report]) driver.play(event)
      expect(names(driver), order).toEqual(['Ada', 'Bo'])
      expect(driver.room.epoch).toBe(4)
    }
  })

  test('a connected member with one complaint is asked, answers, and stays: the pair is shown at a new epoch', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const [ada, , cem] = clients
    const { effects } = driver.play(lost(ada!.connection, cem!.peerId))
    expect(effects).toEqual([{ type: 'probe', connection: cem!.connection }])
    expect(driver.play({ type: 'answered', connection: cem!.connection }).reason).toBe('blocked')
    expect(clients.map(({ view }) => view)).toEqual(
      Array(3).fill({
        epoch: 4,
        members: viewOf(driver.room).members,
        blocked: [{ a: clients[0]!.peerId, b: clients[2]!.peerId, reason: 'channel closed' }],
      }),
    )
    // The other side says the same: nothing new.
    driver.play(lost(cem!.connection, ada!.peerId, 4))
    driver.play({ type: 'answered', connection: ada!.connection })
    expect(driver.room.epoch).toBe(4)
    driver.play({ type: 'linked', connection: cem!.connection, peerId: ada!.peerId })
    expect(viewOf(driver.room)).toEqual({ epoch: 4, members: viewOf(driver.room).members })
    // Broken once more: what was under way on it is lost once more.
    driver.play(lost(ada!.connection, cem!.peerId, 4))
    driver.play({ type: 'answered', connection: cem!.connection })
    expect(driver.room.epoch).toBe(5)
  })

  test('a pair that is known to have no link and loses one all the same begins another epoch', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const [ada, , cem] = clients
    driver.play({ ...lost(ada!.connection, cem!.peerId), wasOpen: true })
    driver.play({ type: 'answered', connection: cem!.connection })
    expect(driver.room.epoch).toBe(4)
    // Cem's side was open until now, in the epoch that began without it: what both did there is lost.
    driver.play({ ...lost(cem!.connection, ada!.peerId, 4), wasOpen: true })
    driver.play({ type: 'answered', connection: ada!.connection })
    expect(driver.room.epoch).toBe(5)
    // What cannot be made again was not lost again.
    driver.play({ ...lost(cem!.connection, ada!.peerId, 5), wasOpen: false })
    driver.play({ type: 'answered', connection: ada!.connection })
    expect(driver.room.epoch).toBe(5)
    expect(viewOf(driver.room).blocked).toHaveLength(1)
  })

  test('a link that is lost and made again before the accused was heard begins an epoch all the same', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const [ada, , cem] = clients
    driver.play({ ...lost(ada!.connection, cem!.peerId), wasOpen: true })
    driver.play({ type: 'linked', connection: ada!.connection, peerId: cem!.peerId })
    expect(viewOf(driver.room)).toEqual({ epoch: 4, members: viewOf(driver.room).members })
  })

  test('a member of a blocked pair keeps its place for the grace time when its connection breaks', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const [ada, , cem] = clients
    driver.play({ ...lost(ada!.connection, cem!.peerId), wasOpen: true })
    driver.play({ type: 'answered', connection: cem!.connection })
    driver.play({ type: 'disconnect', connection: cem!.connection })
    driver.play({ ...lost(ada!.connection, cem!.peerId, 4), wasOpen: false })
    expect(names(driver)).toEqual(['Ada', 'Bo', 'Cem'])
    // But not when a link breaks at the same time.
    driver.play({ ...lost(ada!.connection, cem!.peerId, 4), wasOpen: true })
    expect(names(driver)).toEqual(['Ada', 'Bo'])
  })

  test('an accused member that does not answer is put out; without an accusation silence means nothing', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const { connection, peerId } = clients[2]!
    expect(driver.play({ type: 'silent', connection }).reason).toBe('stale')
    expect(driver.play({ type: 'answered', connection }).reason).toBe('stale')
    driver.play(lost(clients[0]!.connection, peerId))
    expect(driver.play({ type: 'silent', connection })).toMatchObject({
      reason: 'lost',
      effects: [{ type: 'removed', connection, cause: 'lost' }, { type: 'view' }],
    })
  })

  test('a doubted member is asked once, and stays as it was when it answers', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const [ada, bo, cem] = clients
    const doubt = (by: (typeof clients)[number], epoch = 3) =>
      driver.play({ type: 'doubt', connection: by.connection, peerId: cem!.peerId, epoch })
    expect(doubt(ada!, 2).reason).toBe('stale')
    expect(doubt(ada!).effects).toEqual([{ type: 'probe', connection: cem!.connection }])
    expect(doubt(bo!).effects).toEqual([])
    expect(driver.play({ type: 'answered', connection: cem!.connection }).effects).toEqual([])
    expect(viewOf(driver.room)).toEqual(ada!.view)
    expect(doubt(bo!).effects).toHaveLength(1)
    expect(driver.play({ type: 'silent', connection: cem!.connection }).reason).toBe('lost')
    expect(names(driver)).toEqual(['Ada', 'Bo'])
  })

  test('a member that is doubted and without a connection goes at once, whichever came first', () => {
    for (const order of ['doubt first', 'disconnect first']) {
      const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
      const [ada, , cem] = clients
      const doubt = { type: 'doubt', connection: ada!.connection, peerId: cem!.peerId, epoch: 3 } as const
      const end = { type: 'disconnect', connection: cem!.connection } as const
      for (const event of order === 'doubt first' ? [doubt, end] : [end, doubt]) driver.play(event)
      expect(names(driver), order).toEqual(['Ada', 'Bo'])
    }
  })

  test('a connected member that most others cannot reach is put out', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    driver.play(lost(clients[0]!.connection, clients[2]!.peerId))
    const { effects } = driver.play(lost(clients[1]!.connection, clients[2]!.peerId))
    expect(effects[0]).toMatchObject({ type: 'removed', cause: 'unreachable' })
    expect(names(driver)).toEqual(['Ada', 'Bo'])
  })

  test('complaints about an earlier presence, about nobody and about oneself change nothing', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const [ada, , cem] = clients
    expect(driver.play(lost(ada!.connection, cem!.peerId, 2)).reason).toBe('stale')
    expect(driver.play(lost(ada!.connection, 'nobody')).reason).toBe('stale')
    expect(driver.play(lost(ada!.connection, ada!.peerId)).reason).toBe('stale')
    expect(driver.play(lost('c-unknown', cem!.peerId)).reason).toBe('stale')
  })
})

describe('the host', () => {
  test('kicks, and the kicked may come back to the same place', () => {
    const { driver, clients } = roomOf('Ada', 'Bo', 'Cem')
    const [ada, bo] = clients
    const { effects } = driver.play({ type: 'kick', connection: ada!.connection, peerId: bo!.peerId })
    expect(effects[0]).toMatchObject({ type: 'removed', connection: bo!.connection, cause: 'kicked' })
    expect(names(driver)).toEqual(['Ada', 'Cem'])
    driver.join({ token: bo!.token })
    expect(names(driver)).toEqual(['Ada', 'Bo', 'Cem'])
  })

  test('locks newcomers out but not members, and lets them in again', () => {
    const { driver, clients } = roomOf('Ada', 'Bo')
    driver.play({ type: 'lock', connection: clients[0]!.connection, locked: true })
    expect(driver.play(driver.freshJoin()).effects).toMatchObject([{ type: 'refuse', code: 'ROOM_LOCKED' }])
    expect(driver.join({ token: clients[1]!.token })?.name).toBe('Bo')
    driver.play({ type: 'lock', connection: clients[0]!.connection, locked: false })
    expect(driver.join()).toBeDefined()
  })

  test('keeps its rights over a reload', () => {
    const { driver, clients } = roomOf('Ada', 'Bo')
    const again = driver.join({ token: clients[0]!.token })!
    driver.play({ type: 'kick', connection: again.connection, peerId: clients[1]!.peerId })
    expect(names(driver)).toEqual(['Ada'])
  })

  test('closes the room for all', () => {
    const { driver, clients } = roomOf('Ada', 'Bo')
    const { effects } = driver.play({ type: 'close', connection: clients[0]!.connection })
    expect(effects).toMatchObject([
      { type: 'removed', connection: 'c1', cause: 'closed' },
      { type: 'removed', connection: 'c2', cause: 'closed' },
    ])
    expect(driver.room).toMatchObject({ closed: true, seats: [] })
  })

  test('a guest can do none of this', () => {
    const { driver, clients } = roomOf('Ada', 'Bo')
    const [ada, { connection }] = clients as [(typeof clients)[number], (typeof clients)[number]]
    const refused = [{ type: 'refuse', connection, code: 'PROTOCOL' }]
    expect(driver.play({ type: 'kick', connection, peerId: ada.peerId }).effects).toMatchObject(refused)
    expect(driver.play({ type: 'lock', connection, locked: true }).effects).toMatchObject(refused)
    expect(driver.play({ type: 'close', connection }).effects).toMatchObject(refused)
    expect(driver.room).toMatchObject({ locked: false, closed: false, epoch: 2 })
  })
})

test('an empty room is kept for a while, and closed when nobody comes', () => {
  const { driver, clients } = roomOf('Ada')
  driver.play({ type: 'leave', connection: clients[0]!.connection })
  const first = driver.openTimers.at(-1)!
  const back = driver.join({ token: clients[0]!.token })!
  expect(driver.play({ type: 'expire', timer: first }).reason).toBe('stale')
  driver.play({ type: 'leave', connection: back.connection })
  expect(driver.play({ type: 'expire', timer: driver.openTimers.at(-1)! }).reason).toBe('closed')
})
