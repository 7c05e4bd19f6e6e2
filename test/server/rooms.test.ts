import { expect, test } from 'vitest'
import { createRooms } from '../../server/rooms.ts'
import { VirtualClock } from '../../shared/base/clock.ts'
import { membersOf } from '../../shared/membership/roomStep.ts'
import type { JoinEvent, Reason } from '../../shared/membership/roomTypes.ts'

function createTestRooms() {
  const clock = new VirtualClock()
  const reasons: Reason[] = []
  const rooms = createRooms({
    settings: { maxMembers: 4, nameLength: 32, graceSeconds: 10, accusedSeconds: 3, emptySeconds: 60 },
    clock,
    perform() {},
    observe: (_code, _event, { reason }) => reasons.push(reason),
  })
  const join = (code: string, id: string, host = false) => {
    const fresh = { peerId: `p${id}`, token: `t${id}`, seed: 0 }
    const event: JoinEvent = { type: 'join', connection: id, name: id, kind: 'node', host, fresh }
    rooms.dispatch(code, event)
  }
  const runUntil = (time: number) => {
    while ((clock.next() ?? Number.POSITIVE_INFINITY) <= time) clock.step()
  }
  const names = (code: string) => membersOf(rooms.get(code)!).map(({ name }) => name)
  return { clock, rooms, reasons, join, runUntil, names }
}

test('rooms are apart, and are counted together', () => {
  const { rooms, join, names } = createTestRooms()
  for (const code of ['one', 'two']) rooms.open(code)
  join('one', 'a')
  join('one', 'b')
  join('two', 'c')
  rooms.dispatch('one', { type: 'leave', connection: 'c' })
  expect([names('one'), names('two')]).toEqual([['a', 'b'], ['c']])
  expect([rooms.count, rooms.members]).toEqual([2, 3])
})

test('timers end absences and empty rooms', () => {
  const { rooms, reasons, join, runUntil } = createTestRooms()
  rooms.open('demo')
  join('demo', 'a')
  rooms.dispatch('demo', { type: 'disconnect', connection: 'a' })
  runUntil(10)
  expect(reasons.slice(-3)).toEqual(['away', 'settled', 'expired'])
  runUntil(69)
  expect(rooms.count).toBe(1)
  runUntil(70)
  expect([rooms.count, reasons.at(-1)]).toEqual([0, 'closed'])
})

test('timers of a closed room do not reach a new one with the same code', () => {
  const { clock, rooms, join, runUntil, names } = createTestRooms()
  rooms.open('demo')
  join('demo', 'a', true)
  join('demo', 'b')
  rooms.dispatch('demo', { type: 'disconnect', connection: 'b' })
  clock.after(5, () => {
    rooms.dispatch('demo', { type: 'close', connection: 'a' })
    rooms.open('demo')
    join('demo', 'c')
    join('demo', 'd')
    rooms.dispatch('demo', { type: 'disconnect', connection: 'd' })
  })
  runUntil(14)
  expect(names('demo')).toEqual(['c', 'd'])
  runUntil(15)
  expect(names('demo')).toEqual(['c'])
})

test('after close no timer is left, and an event for an unknown room is nothing', () => {
  const { clock, rooms, join } = createTestRooms()
  rooms.open('demo')
  join('demo', 'a')
  rooms.close()
  expect(clock.next()).toBeUndefined()
  join('other', 'b')
  expect(rooms.count).toBe(1)
})
