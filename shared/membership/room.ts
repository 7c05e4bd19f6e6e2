/**
 * A room as a pure step function: every decision about who is a member, in which order and at which epoch is made
 * here. docs/protocol.md states the invariants; ids, luck and time come in with the events.
 */
import { unreachable } from '../base/assert.ts'
import { addComplaint, condemned, confirm, dropPair } from './blame.ts'
import { join } from './roomJoin.ts'
import { conclude, stale } from './roomStep.ts'
import type { Reason, Room, RoomEvent, RoomSettings, Seat, Step } from './roomTypes.ts'
import type { RemovalCause } from './types.ts'

export function createRoom(settings: RoomSettings): Room {
  return {
    settings,
    epoch: 0,
    seats: [],
    complaints: [],
    doubted: [],
    locked: false,
    closed: false,
    timers: 0,
  }
}

export function step(room: Room, event: RoomEvent): Step {
  if (event.type === 'join') return join(room, event)
  if (event.type === 'expire') return expire(room, event.timer)
  const seat = room.seats.find(({ connection }) => connection === event.connection)
  if (!seat) return stale(room)
  switch (event.type) {
    case 'leave':
      return conclude(room, putOut(room, [seat]), 'left')
    case 'disconnect':
      return disconnect(room, seat)
    case 'lost':
      return lost(room, seat, event)
    case 'doubt':
      return doubt(room, seat, event)
    case 'answered':
      return answered(room, seat)
    case 'silent':
      return isInQuestion(room, seat)
        ? expel(room, seat, 'lost', 'You did not answer for a while.')
        : stale(room)
    case 'linked':
      return conclude(
        room,
        { ...room, complaints: dropPair(room.complaints, seat.peerId, event.peerId) },
        'linked',
      )
    case 'kick': {
      const target = room.seats.find(({ peerId }) => peerId === event.peerId)
      if (!seat.host) return refuseGuest(room, seat, 'send a member away')
      if (!target || target.presence === 'gone') return stale(room)
      return expel(room, target, 'kicked', 'The host of the room sent you away.')
    }
    case 'lock':
      if (!seat.host) return refuseGuest(room, seat, 'lock the room')
      return {
        room: { ...room, locked: event.locked },
        effects: [],
        reason: event.locked ? 'locked' : 'unlocked',
      }
    case 'close':
      if (!seat.host) return refuseGuest(room, seat, 'close the room')
      return close(room)
    default:
      return unreachable(event)
  }
}

/** A broken connection is no death: the member keeps its place for the grace time, unless another member lost it too. */
function disconnect(room: Room, seat: Seat): Step {
  // Of complaints that it has answered it is known already that it lives.
  const isAccused = room.complaints.some(({ about, isConfirmed }) => about === seat.peerId && !isConfirmed)
  if (isAccused || room.doubted.includes(seat.peerId)) return conclude(room, putOut(room, [seat]), 'lost')
  return sendAway(room, seat, room.settings.graceSeconds, 'away')
}

function sendAway(room: Room, seat: Seat, seconds: number, reason: Reason): Step {
  const timer = room.timers + 1
  const { connection: _, ...rest } = seat
  const away: Seat = { ...rest, presence: 'away', timer }
  const after = { ...room, timers: timer, seats: room.seats.map((other) => (other === seat ? away : other)) }
  return conclude(room, after, reason, { effects: [{ type: 'timer', timer, seconds }] })
}

function lost(room: Room, by: Seat, event: Extract<RoomEvent, { type: 'lost' }>): Step {
  const target = room.seats.find(({ peerId }) => peerId === event.peerId)
  // A complaint from before the target came in speaks of an older link.
  if (!target || target === by || target.presence === 'gone' || event.epoch < target.since) return stale(room)
  const complaints = addComplaint(room.complaints, {
    by: by.peerId,
    about: target.peerId,
    reason: event.reason,
    at: room.epoch,
    wasOpen: event.wasOpen ?? false,
    knew: event.epoch,
  })
  if (!target.connection) {
    if (complaints === room.complaints) return stale(room)
    if (target.token !== undefined) return conclude(room, putOut(room, [target]), 'lost')
    // The server was away, and nobody has come back at the same moment.
    return sendAway({ ...room, complaints }, target, room.settings.accusedSeconds, 'complaint')
  }
  const size = room.seats.filter(({ presence }) => presence !== 'gone').length
  if (condemned(complaints, target.peerId, size)) {
    return expel(room, target, 'unreachable', 'Most members could not reach you.')
  }
  return conclude(room, { ...room, complaints }, 'complaint', {
    effects: [{ type: 'probe', connection: target.connection }],
  })
}

/** Silence alone costs nobody its place: a member that answers stays as it was. */
function doubt(room: Room, by: Seat, event: { peerId: string; epoch: number }): Step {
  const target = room.seats.find(({ peerId }) => peerId === event.peerId)
  if (!target || target === by || target.presence === 'gone' || event.epoch < target.since) return stale(room)
  if (!target.connection) {
    // Its link is silent and its connection is broken: nothing is left of it. After a restart of the server it may be on its way.
    return target.token === undefined ? stale(room) : conclude(room, putOut(room, [target]), 'lost')
  }
  if (room.doubted.includes(target.peerId)) return stale(room)
  return {
    room: { ...room, doubted: [...room.doubted, target.peerId] },
    effects: [{ type: 'probe', connection: target.connection }],
    reason: 'doubted',
  }
}

function answered(room: Room, seat: Seat): Step {
  if (!isInQuestion(room, seat)) return stale(room)
  const doubted = room.doubted.filter((peerId) => peerId !== seat.peerId)
  const complaints = confirm(room.complaints, seat.peerId)
  return conclude(room, { ...room, doubted, complaints }, complaints.length > 0 ? 'blocked' : 'doubted')
}

function expire(room: Room, timer: number): Step {
  if (room.emptyTimer === timer) return close(room)
  if (room.youngTimer === timer) {
    const { youngTimer: _, ...settled } = room
    return { room: settled, effects: [], reason: 'settled' }
  }
  const expired = room.seats.filter((seat) => seat.presence === 'away' && seat.timer === timer)
  return expired.length === 0 ? stale(room) : conclude(room, putOut(room, expired), 'expired')
}

function expel(
  room: Room,
  seat: Seat,
  cause: Exclude<RemovalCause, 'closed' | 'replaced'>,
  message: string,
): Step {
  return conclude(room, putOut(room, [seat]), cause, {
    effects: seat.connection ? [{ type: 'removed', connection: seat.connection, cause, message }] : [],
  })
}

function close(room: Room): Step {
  const effects = room.seats.flatMap(({ connection }) =>
    connection
      ? [{ type: 'removed', connection, cause: 'closed', message: 'The room was closed.' } as const]
      : [],
  )
  const { emptyTimer: _, youngTimer: __, ...rest } = room
  return {
    room: { ...rest, seats: [], complaints: [], doubted: [], closed: true },
    effects,
    reason: 'closed',
  }
}

function refuseGuest(room: Room, seat: Seat, deed: string): Step {
  const message = `Only the host of the room can ${deed}.`
  const effects = seat.connection
    ? [{ type: 'refuse', connection: seat.connection, code: 'PROTOCOL', message } as const]
    : []
  return { room, effects, reason: 'refused' }
}

function isInQuestion(room: Room, { peerId }: Seat): boolean {
  return room.doubted.includes(peerId) || room.complaints.some(({ about }) => about === peerId)
}

function putOut(room: Room, out: readonly Seat[]): Room {
  const seats = room.seats.map((seat): Seat => {
    if (!out.includes(seat)) return seat
    const { connection: _, timer: __, ...rest } = seat
    return { ...rest, presence: 'gone' }
  })
  return { ...room, seats }
}
