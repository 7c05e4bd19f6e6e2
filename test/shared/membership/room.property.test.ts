import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRoom, step } from '../../../shared/membership/room.ts'
import { membersOf } from '../../../shared/membership/roomStep.ts'
import type { RoomEvent } from '../../../shared/membership/roomTypes.ts'
import { Driver, testSettings } from './driver.ts'

/** A move picks what it needs from the state of the room by number, so that most moves mean something. */
const move = fc.record({
  kind: fc.constantFrom(
    'join',
    'join',
    'resume',
    'reconnect',
    'leave',
    'disconnect',
    'disconnect',
    'expire',
    'lost',
    'lost',
    'answered',
    'answered',
    'silent',
    'doubt',
    'linked',
    'kick',
    'lock',
  ),
  a: fc.nat(1000),
  b: fc.nat(1000),
  name: fc.constantFrom(
    '',
    'Mia',
    'mia ',
    'Bo',
    'M\u200bia',
    'A name that is as long as it can',
    '🦋'.repeat(20),
  ),
  flag: fc.boolean(),
})
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never

const pick = <T>(items: readonly T[], index: number): T | undefined =>
  items[index % Math.max(1, items.length)]

function eventFor(driver: Driver, { kind, a, b, name, flag }: Move): RoomEvent | undefined {
  const { seats } = driver.room
  const seat = pick(seats, a)
  const connection = pick([...driver.clients.keys()], a) ?? 'c-unknown'
  const peerId = pick(seats, b)?.peerId ?? 'p-unknown'
  switch (kind) {
    case 'join':
      return driver.freshJoin({ name, host: seats.length === 0 })
    case 'resume':
      return driver.freshJoin({ name, token: seat?.token ?? 't-unknown' })
    case 'reconnect':
      return driver.freshJoin({ name, ...(seat?.token && { token: seat.token, peerId: seat.peerId }) })
    case 'expire': {
      const timer = pick(driver.openTimers, a)
      // Left to the end of the test: a closed room has nothing more to show.
      return timer === undefined || timer === driver.room.emptyTimer ? undefined : { type: 'expire', timer }
    }
    case 'lost':
      return {
        type: 'lost',
        connection,
        peerId,
        epoch: driver.room.epoch - (flag ? 0 : 1),
        reason: 'channel closed',
        wasOpen: a % 2 === 0,
      }
    case 'lock':
      return { type: 'lock', connection, locked: flag }
    case 'doubt':
      return { type: kind, connection, peerId, epoch: driver.room.epoch - (flag ? 0 : 1) }
    case 'linked':
    case 'kick':
      return { type: kind, connection, peerId }
    default:
      return { type: kind, connection }
  }
}

test('any events keep the invariants, and the same events give the same room', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const driver = new Driver()
      for (const one of moves) {
        const event = eventFor(driver, one)
        if (event) driver.play(event)
      }
      const replayed = driver.events.reduce((room, event) => step(room, event).room, createRoom(testSettings))
      expect(replayed).toEqual(driver.room)
      expect(JSON.parse(JSON.stringify(driver.room))).toEqual(driver.room)
    }),
    { numRuns: 400 },
  )
})

test('one complaint never removes a member that is connected', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), fc.nat(1000), fc.nat(1000), (moves, a, b) => {
      const driver = new Driver()
      for (const one of moves) {
        const event = one.kind === 'lost' ? undefined : eventFor(driver, one)
        if (event) driver.play(event)
      }
      const here = driver.room.seats.filter(({ presence }) => presence === 'here')
      const by = pick(here, a)
      const about = pick(here, b)
      if (!by?.connection || !about) return
      const { epoch } = driver.room
      driver.play({ type: 'lost', connection: by.connection, peerId: about.peerId, epoch, reason: 'no link' })
      expect(driver.room.epoch).toBe(epoch)
      expect(membersOf(driver.room).map(({ peerId }) => peerId)).toContain(about.peerId)
    }),
    { numRuns: 200 },
  )
})

test('whoever is connected at the end is a member until its own timers end, and an empty room closes', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
      const driver = new Driver()
      driver.join({ name: 'Ada' })
      for (const one of moves) {
        const event = eventFor(driver, one)
        if (event) driver.play(event)
      }
      const here = driver.room.seats.filter(({ presence }) => presence === 'here')
      for (const timer of driver.openTimers.filter((open) => open !== driver.room.emptyTimer)) {
        driver.play({ type: 'expire', timer })
      }
      expect(membersOf(driver.room)).toEqual(
        here.map((seat) => expect.objectContaining({ token: seat.token })),
      )
      for (const { connection } of here) driver.play({ type: 'leave', connection: connection! })
      driver.play({ type: 'expire', timer: driver.room.emptyTimer! })
      expect(driver.room.closed).toBe(true)
    }),
    { numRuns: 200 },
  )
})
