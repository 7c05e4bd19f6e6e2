import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { type Askable, isAlive } from '../../server/challenge.ts'
import { VirtualClock } from '../../shared/base/clock.ts'

/** A connection whose other side does `onAlive` when it is asked. */
function connection(onAlive: (reply: () => void) => void = () => {}) {
  const events = new EventEmitter()
  const socket: Askable = {
    emit: (_event, reply) => onAlive(reply),
    once: (event, listener) => events.once(event, listener),
    off: (event, listener) => events.off(event, listener),
  }
  return { socket, events }
}

test('an answer in time is a sign of life, and leaves nothing behind', async () => {
  const clock = new VirtualClock()
  const { socket, events } = connection((reply) => clock.after(0.6, reply))
  const alive = isAlive(socket, clock, 0.7)
  clock.step()
  expect(await alive).toBe(true)
  expect(clock.next()).toBeUndefined()
  expect(events.listenerCount('disconnect')).toBe(0)
})

test('silence is none, and a late answer changes nothing', async () => {
  const clock = new VirtualClock()
  const { socket, events } = connection((reply) => clock.after(0.8, reply))
  const alive = isAlive(socket, clock, 0.7)
  clock.step()
  clock.step()
  expect(await alive).toBe(false)
  expect(events.listenerCount('disconnect')).toBe(0)
})

test('a connection that ends is an answer at once', async () => {
  const clock = new VirtualClock()
  const { socket, events } = connection()
  const alive = isAlive(socket, clock, 0.7)
  events.emit('disconnect')
  expect(await alive).toBe(false)
  expect(clock.next()).toBeUndefined()
})
