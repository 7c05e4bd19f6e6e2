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

  test('who is reported lost before it came back is put out at once', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo', 'Cem'])
    const second = new Driver(undefined, 'x', driver.epochs)
    const { connection } = comeBack(second, clients[0]!)
    const peerId = clients[2]!.peerId
    second.play({ type: 'lost', connection, peerId, epoch: driver.room.epoch, reason: 'channel closed' })
    expect(ids(second)).toEqual([clients[0]!.peerId, clients[1]!.peerId])
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

  test('somebody new may have made the room first: the survivors keep their order before them', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo'])
    const second = new Driver(undefined, 'x')
    const guest = second.join({ name: 'Ada' })!
    const back = comeBack(second, clients[1]!)
    expect(ids(second)).toEqual([clients[0]!.peerId, clients[1]!.peerId, guest.peerId])
    expect(second.room.epoch).toBe(driver.room.epoch + 1)
    expect(back.view.members.map(({ name }) => name)).toEqual(['Ada 2', 'Bo', 'Ada'])
  })

  test('an established room takes no members from hearsay', () => {
    const { clients } = firstLife(['Ada', 'Bo', 'Cem'])
    const second = new Driver(undefined, 'x')
    second.join({ name: 'Guest' })
    second.play({ type: 'expire', timer: 1 })
    comeBack(second, clients[2]!)
    expect(membersOf(second.room).map(({ name }) => name)).toEqual(['Guest', 'Cem'])
  })

  test('a view that does not have the peer where it says is not believed', () => {
    const { clients } = firstLife(['Ada', 'Bo'])
    const [ada, bo] = clients
    const second = new Driver(undefined, 'x')
    second.join({ token: bo!.token, peerId: bo!.peerId, known: second.known(ada!) })
    expect(ids(second)).toEqual([bo!.peerId])
  })

  test('nobody takes the identity of a member that is back already', () => {
    const { driver, clients } = firstLife(['Ada', 'Bo'])
    const [ada, bo] = clients
    const second = new Driver(undefined, 'x', driver.epochs)
    comeBack(second, ada!)
    comeBack(second, bo!)
    const thief = second.join({ token: 'stolen', peerId: bo!.peerId, known: second.known(bo!) })!
    expect(thief.peerId).not.toBe(bo!.peerId)
    expect(thief.token).not.toBe('stolen')
    expect(ids(second)).toEqual([ada!.peerId, bo!.peerId, thief.peerId])
  })
})

test('without the members, ranks and the epoch still go on from what each survivor knows', () => {
  const { driver, clients } = firstLife(['Ada', 'Bo', 'Cem'])
  const second = new Driver(undefined, 'x')
  for (const index of [2, 0, 1]) comeBack(second, clients[index]!, false)
  expect(ids(second)).toEqual(clients.map(({ peerId }) => peerId))
  expect(second.room.epoch).toBe(driver.room.epoch + 3)
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
        // An epoch that nobody alive was told may be used again.
        const told = survivors.map(
          ({ view }) => [view.epoch, JSON.stringify(view.members.map(({ peerId }) => peerId))] as const,
        )
        const second = new Driver(undefined, 'x', new Map(told))
        const back = survivors.map((client) => comeBack(second, client))
        for (const timer of [...second.openTimers]) {
          if (timer !== second.room.emptyTimer) second.play({ type: 'expire', timer })
        }
        const order = joined.map(({ peerId }) => peerId)
        expect(ids(second)).toEqual(order.filter((id) => survivors.some(({ peerId }) => peerId === id)))
        for (const [index, client] of survivors.entries()) {
          expect(second.room.epoch).toBeGreaterThanOrEqual(client.view.epoch)
          expect(back[index]).toMatchObject({ peerId: client.peerId, token: client.token })
        }
      },
    ),
    { numRuns: 300 },
  )
})
