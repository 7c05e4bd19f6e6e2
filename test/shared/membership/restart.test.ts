/** The server was restarted and lost everything; the peers still have their links and their last views. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { membersOf } from '../../../shared/membership/roomStep.ts'
import { type Client, Driver } from './driver.ts'

function ids(driver: Driver): string[] {
  return membersOf(driver.room).map(({ peerId }) => peerId)
}

function firstLife(names: readonly string[]): { driver: Driver; clients: Client[] } {
  const driver = new Driver()
  const clients = names.map((name) => driver.join({ name })!)
  return { driver, clients: clients.map(({ connection }) => driver.clients.get(connection)!) }
}

function comeBack(driver: Driver, client: Client, withMembers = true): Client {
  const { name, token, peerId } = client
  return driver.join({ name, token, peerId, known: driver.known(client, withMembers) })!
}

describe('with the members of the last view', () => {
  test('the first survivor restores the room at an unchanged epoch, and no other changes it', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo', 'Cem'])
    const second = new Driver(undefined, 'x', driver.epochs)
    for (const client of [clients[1]!, clients[2]!, clients[0]!]) {
      const back = comeBack(second, client)
      expect(back).toMatchObject({ peerId: client.peerId, token: client.token, name: client.name })
      expect(back.view).toEqual(client.view)
      expect(second.room.epoch).toBe(driver.room.epoch)
    }
  })

  test('who does not come back in time is put out in one step', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo', 'Cem', 'Dua'])
    const second = new Driver(undefined, 'x', driver.epochs)
    comeBack(second, clients[1]!)
    for (const timer of [...second.openTimers]) second.play({ type: 'expire', timer })
    expect(ids(second)).toEqual([clients[1]!.peerId])
    expect(second.room.epoch).toBe(driver.room.epoch + 1)
  })

  test('who is reported lost before it came back has less time to do so', () => {
    for (const isInTime of [true, false]) {
      const { driver, clients } = firstLife(['Ada', 'Bo', 'Cem'])
      const second = new Driver(undefined, 'x', driver.epochs)
      const [ada, bo, cem] = clients
      const { connection } = comeBack(second, ada!)
      const { epoch } = driver.room
      const loss = { type: 'lost', connection, peerId: cem!.peerId, epoch, wasOpen: true } as const
      const { effects } = second.play({ ...loss, reason: 'channel closed' })
      expect(effects).toMatchObject([{ type: 'timer', seconds: second.room.settings.accusedSeconds }])
      const timer = second.openTimers.at(-1)!
      // In time: both live, and the link is lost.
      if (isInTime) comeBack(second, cem!)
      second.play({ type: 'expire', timer })
      expect(ids(second)).toEqual([ada, bo, ...(isInTime ? [cem] : [])].map((client) => client!.peerId))
      expect(second.room.epoch).toBe(epoch + 1)
    }
  })

  test('a newer view is taken over as it is: who had left by then is not waited for', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo', 'Cem'])
    const stale = { ...clients[0]! }
    driver.play({ type: 'leave', connection: clients[1]!.connection })
    const second = new Driver(undefined, 'x', driver.epochs)
    comeBack(second, stale)
    expect(second.room.epoch).toBe(3)
    comeBack(second, clients[2]!)
    expect(ids(second)).toEqual([clients[0]!.peerId, clients[2]!.peerId])
    expect(second.room.epoch).toBe(4)
  })

  test('who had been lost before the restart and comes back first is lost again when the others know better', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo', 'Cem'])
    const [ada, bo, cem] = clients
    const stale = { ...ada! }
    driver.play({ type: 'leave', connection: ada!.connection })
    const second = new Driver(undefined, 'x', driver.epochs)
    const { connection } = comeBack(second, stale)
    const event = second.freshJoin({ token: bo!.token, peerId: bo!.peerId, known: second.known(bo!) })
    expect(second.play(event).effects).toContainEqual(
      expect.objectContaining({ type: 'removed', connection, cause: 'lost' }),
    )
    comeBack(second, cem!)
    expect(ids(second)).toEqual([bo!.peerId, cem!.peerId])
    expect(second.room.epoch).toBe(driver.room.epoch)
    // The other way round it is told at once.
    const third = new Driver(undefined, 'y')
    comeBack(third, bo!)
    expect(comeBack(third, stale)).toBeUndefined()
    expect(ids(third)).toEqual([bo!.peerId, cem!.peerId])
  })

  test('an epoch that a survivor knows and the room has given out again ends the incarnation of the survivor', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo', 'Cem'])
    const [ada, bo] = clients
    const stale = { ...ada! }
    driver.play({ type: 'leave', connection: clients[2]!.connection })
    const second = new Driver(undefined, 'x')
    comeBack(second, stale)
    second.join({ name: 'Guest' })
    expect([second.room.epoch, bo!.view.epoch]).toEqual([4, 4])
    expect(comeBack(second, bo!)).toBeUndefined()
  })

  test('somebody new may have made the room first: it comes in anew, after the survivors', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo'])
    const second = new Driver(undefined, 'x')
    const guest = second.join({ name: 'Ada' })!
    const back = comeBack(second, clients[1]!)
    expect(back.view).toEqual(clients[1]!.view)
    expect(second.room.epoch).toBe(driver.room.epoch)
    expect(second.clients.get(guest.connection)).toBeUndefined()
    const again = second.join({ token: guest.token })!
    expect(again.peerId).not.toBe(guest.peerId)
    expect(again.view.members.map(({ name }) => name)).toEqual(['Ada', 'Bo', 'Ada 2'])
  })

  test('an established room takes no members from hearsay', () => {
    const { clients } = firstLife(['Ada', 'Bo', 'Cem'])
    const second = new Driver(undefined, 'x')
    second.join({ name: 'Guest' })
    second.play({ type: 'expire', timer: 1 })
    expect(comeBack(second, clients[2]!)).toBeUndefined()
    expect(membersOf(second.room).map(({ name }) => name)).toEqual(['Guest'])
  })

  test('a view that does not have the peer where it says is not believed', () => {
    const { clients } = firstLife(['Ada', 'Bo'])
    const [ada, bo] = clients
    const second = new Driver(undefined, 'x')
    second.join({ token: bo!.token, peerId: bo!.peerId, known: second.known(ada!) })
    expect(ids(second)).toEqual([])
    expect(second.room.emptyTimer).toBeDefined()
  })

  test('nobody takes the identity of a member that is back already', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo'])
    const [ada, bo] = clients
    const second = new Driver(undefined, 'x', driver.epochs)
    comeBack(second, ada!)
    comeBack(second, bo!)
    expect(second.join({ token: 'stolen', peerId: bo!.peerId, known: second.known(bo!) })).toBeUndefined()
    expect(ids(second)).toEqual([ada!.peerId, bo!.peerId])
  })
})

test('without the members nothing shows that a survivor was in every view: it comes in anew', () => {
  const { clients } = firstLife(['Ada', 'Bo'])
  const second = new Driver(undefined, 'x')
  expect(comeBack(second, clients[0]!, false)).toBeUndefined()
  expect(second.room.emptyTimer).toBeDefined()
  expect(second.join({ token: clients[0]!.token })).toBeDefined()
})

test('whatever survives, in whatever order and whatever it knows: one list per epoch over both lives', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.nat(5), { maxLength: 3 }),
      fc.array(fc.record({ survives: fc.boolean(), misses: fc.boolean(), place: fc.nat() }), {
        minLength: 6,
        maxLength: 6,
      }),
      (size, leavers, fates) => {
        const driver = new Driver()
        const joined = Array.from({ length: size }, (_, index) => driver.join({ name: `N${index}` })!)
        const live = new Map(joined.map(({ connection }) => [connection, driver.clients.get(connection)!]))
        // Who misses the last changes still knows the view from before them.
        const stale = new Map([...live].map(([connection, client]) => [connection, { ...client }]))
        for (const leaver of leavers) {
          const { connection } = joined[leaver % size]!
          if (live.size > 1 && live.delete(connection)) driver.play({ type: 'leave', connection })
        }
        const survivors = [...live.keys()]
          .map((connection, index) => ({ connection, fate: fates[index]! }))
          .filter(({ fate }) => fate.survives)
          .sort((a, b) => a.fate.place - b.fate.place)
          .map(({ connection, fate }) => (fate.misses ? stale : live).get(connection)!)
        const second = new Driver(undefined, 'x')
        for (const client of survivors) comeBack(second, client)
        for (const timer of [...second.openTimers]) {
          if (timer !== second.room.emptyTimer) second.play({ type: 'expire', timer })
        }
        const stayed = survivors.filter(({ peerId }) => ids(second).includes(peerId))
        const order = joined.map(({ peerId }) => peerId)
        expect(ids(second)).toEqual(order.filter((id) => stayed.some(({ peerId }) => peerId === id)))
        const told = stayed.map(
          ({ view }) => [view.epoch, JSON.stringify(view.members.map(({ peerId }) => peerId))] as const,
        )
        // One list per epoch, whoever of those who are in knows of it, and nobody was out in between.
        for (const [epoch, list] of [...told, ...second.epochs]) {
          for (const [other, otherList] of [...told, ...second.epochs])
            if (epoch === other) expect(list).toBe(otherList)
          for (const { peerId, view } of stayed)
            if (epoch >= view.epoch) expect(list).toContain(`"${peerId}"`)
        }
        for (const { view } of stayed) expect(second.room.epoch).toBeGreaterThanOrEqual(view.epoch)
        // Who knew the newest view of all comes back.
        const newest = Math.max(...survivors.map(({ view }) => view.epoch))
        for (const { peerId, view } of survivors)
          if (view.epoch === newest) expect(ids(second)).toContain(peerId)
      },
    ),
    { numRuns: 300 },
  )
})
