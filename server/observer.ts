/** Turns the steps of rooms into metrics and log lines. */

import { membersOf } from '../shared/membership/roomStep.ts'
import type { RoomEvent, Step } from '../shared/membership/roomTypes.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

const departures = ['left', 'expired', 'lost', 'unreachable', 'kicked']

export function observer(log: Log, metrics: Metrics) {
  const numbers = new Map<string, number>()
  let last = 0
  return (code: string, event: RoomEvent, { room, reason }: Step): void => {
    if (!numbers.has(code)) {
      numbers.set(code, ++last)
      log.debug({ room: last, code }, 'room opened')
    }
    const number = numbers.get(code)
    if (room.closed) numbers.delete(code)
    if (event.type === 'join' && reason !== 'refused') metrics.joins.inc({ result: reason })
    if (reason === 'reconnected') metrics.reconnects.inc()
    if (departures.includes(reason)) metrics.departures.inc({ cause: reason })
    if (reason === 'stale' || reason === 'linked' || reason === 'settled') return
    log.info({ room: number, epoch: room.epoch, members: membersOf(room).length }, reason)
    log.debug({ room: number, step: event }, reason)
  }
}
