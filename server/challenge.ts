import type { Clock } from '../shared/base/clock.ts'

/** The part of a socket that the question needs. */
export interface Askable {
  emit(event: 'alive', reply: () => void): unknown
  once(event: 'disconnect', listener: () => void): unknown
  off(event: 'disconnect', listener: () => void): unknown
}

/** Asks the client behind a connection whether it is alive: false when it says nothing in time or its connection ends. */
export function isAlive(socket: Askable, clock: Clock, seconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const conclude = (alive: boolean) => {
      cancel()
      socket.off('disconnect', onDisconnect)
      resolve(alive)
    }
    const onDisconnect = () => conclude(false)
    const cancel = clock.after(seconds, () => conclude(false))
    socket.once('disconnect', onDisconnect)
    socket.emit('alive', () => conclude(true))
  })
}
