/** How a peer gets a seat: a new one, its own again, or its own in a room that a restart of the server wiped out. */
import type { RefusalCode } from '../base/errors.ts'
import { confirm } from './blame.ts'
import { cleanName, madeUpName, uniqueName } from './names.ts'
import { conclude, membersOf } from './roomStep.ts'
import type { JoinEvent, Room, RoomEffect, Seat, Step } from './roomTypes.ts'

export function join(room: Room, event: JoinEvent): Step {
  if (room.closed) return refuse(room, event, 'ROOM_CLOSED', 'This room was closed.')
  const effects: RoomEffect[] = []
  const { graceSeconds, maxMembers } = room.settings
  let current = room
  if (room.timers === 0) {
    current = { ...room, timers: 1, youngTimer: 1 }
    effects.push({ type: 'timer', timer: 1, seconds: graceSeconds })
  }
  const adopted = adopt(current, event)
  const own = ownSeat(adopted, event)
  const isIn = own !== undefined && own.presence !== 'gone'
  const isSame = own !== undefined && event.peerId === own.peerId
  if (event.peerId !== undefined && event.token !== undefined && !hasStayed(own, event)) {
    effects.push(lostSeat(event.connection))
    return conclude(room, current, 'refused', { effects })
  }
  if (adopted.timers > current.timers) {
    effects.push({ type: 'timer', timer: adopted.timers, seconds: graceSeconds })
  }
  for (const { connection } of current.seats)
    if (connection !== undefined && !adopted.seats.some((seat) => seat.connection === connection))
      effects.push(lostSeat(connection))
  const size = membersOf(adopted).length
  if (!own && room.locked) {
    return refuse(room, event, 'ROOM_LOCKED', 'The host has locked this room. Ask for it to be opened.')
  }
  if (!isIn && size >= maxMembers) {
    return refuse(room, event, 'ROOM_FULL', `This room is full: ${size} of ${maxMembers} seats are taken.`)
  }
  const seat = own ? resumed(adopted, event, own) : newSeat(adopted, event)
  if (own?.connection && own.connection !== event.connection) {
    const message = 'Your seat is now held by a newer page or connection.'
    effects.push({ type: 'removed', connection: own.connection, cause: 'replaced', message })
  }
  const rest = adopted.seats.filter((other) => other !== own)
  const seats = [...rest, seat].sort((a, b) => a.order - b.order)
  // Who comes back by itself is alive.
  const complaints = isSame ? confirm(adopted.complaints, own.peerId) : adopted.complaints
  const doubted = adopted.doubted.filter((peerId) => peerId !== own?.peerId)
  const reason = !own ? 'joined' : !isIn ? 'resumed' : isSame ? 'reconnected' : 'replaced'
  return conclude(room, { ...adopted, seats, complaints, doubted }, reason, {
    effects,
    joiner: seat,
    known: adopted === current ? undefined : event.known,
  })
}

const lostSeat = (connection: string): RoomEffect => ({
  type: 'removed',
  connection,
  cause: 'lost',
  message: 'The others went on without you while you could not be reached.',
})

/**
 * Who comes back as the same incarnation must have been in every view since, and must not know of an epoch that this room may have given out again:
 * it goes on with its ops where it was.
 */
function hasStayed(own: Seat | undefined, { peerId, known }: JoinEvent): boolean {
  if (own === undefined || own.presence === 'gone') return false
  const isFirstReturn = own.restoredAt !== undefined && own.token === undefined
  return own.peerId === peerId && (!isFirstReturn || (known?.epoch ?? 0) <= own.restoredAt)
}

function refuse(room: Room, { connection }: JoinEvent, code: RefusalCode, message: string): Step {
  return { room, effects: [{ type: 'refuse', connection, code, message }], reason: 'refused' }
}

/** The seat of this token; or the one that a survivor's view kept for this peerId and that nobody has claimed. */
function ownSeat(room: Room, { token, peerId }: JoinEvent): Seat | undefined {
  if (token === undefined) return undefined
  return (
    room.seats.find((seat) => seat.token === token) ??
    room.seats.find((seat) => seat.token === undefined && seat.peerId === peerId)
  )
}

function resumed(room: Room, event: JoinEvent, own: Seat): Seat {
  const { timer: _, ...rest } = own
  const isSame = event.peerId === own.peerId
  const isIn = own.presence !== 'gone'
  return {
    ...rest,
    // Within one incarnation nothing that the view shows may change without a new epoch.
    kind: isSame && isIn ? own.kind : event.kind,
    name: isIn ? own.name : uniqueName(own.name, namesIn(room), room.settings.nameLength),
    peerId: isSame ? own.peerId : event.fresh.peerId,
    token: event.token ?? event.fresh.token,
    presence: 'here',
    connection: event.connection,
    host: own.host || event.host === true,
  }
}

function newSeat(room: Room, { fresh, name, kind, connection, host }: JoinEvent): Seat {
  const { nameLength } = room.settings
  const wanted = cleanName(name, nameLength) || madeUpName(fresh.seed)
  return {
    peerId: fresh.peerId,
    token: fresh.token,
    name: uniqueName(wanted, namesIn(room), nameLength),
    kind,
    presence: 'here',
    connection,
    host: host === true,
    order: 1 + Math.max(-1, ...room.seats.map(({ order }) => order)),
    since: room.epoch,
  }
}

function namesIn(room: Room): readonly string[] {
  return membersOf(room).map(({ name }) => name)
}

/**
 * Brings back the members of a view that is newer than the room's: they have the grace time to claim their seats. Who is not in that
 * view has to come in anew: a survivor who had been lost before, or somebody new, who has begun another group by now. Only in a room that is young, so that nobody can fill an established room
 * with members that do not exist.
 */
function adopt(room: Room, { known, peerId }: JoinEvent): Room {
  const { maxMembers, nameLength } = room.settings
  if (!known?.members || known.epoch <= room.epoch || room.youngTimer === undefined) return room
  const ids = new Set(known.members.map((member) => member.peerId))
  const isSound = ids.size === known.members.length && known.members[known.rank]?.peerId === peerId
  // A seat that was kept for somebody whom the newer view does not have any more is given up.
  const kept = room.seats.filter((seat) => ids.has(seat.peerId) || seat.token !== undefined)
  const others = kept.filter((seat) => !ids.has(seat.peerId)).map(putOut)
  if (!isSound || ids.size > maxMembers) return room
  const timer = room.timers + 1
  const names: string[] = []
  const seats = known.members.map((member, order): Seat => {
    const seat = kept.find((other) => other.peerId === member.peerId)
    const name =
      seat?.name ?? uniqueName(cleanName(member.name, nameLength) || madeUpName(order), names, nameLength)
    names.push(name)
    const restoredAt = known.epoch
    if (seat) return { ...seat, order, restoredAt }
    return { ...member, name, presence: 'away', timer, host: false, order, since: room.epoch, restoredAt }
  })
  const after = others.map((seat, index): Seat => ({ ...seat, order: ids.size + index }))
  return { ...room, timers: timer, seats: [...seats, ...after] }
}

function putOut(seat: Seat): Seat {
  const { connection: _, timer: __, ...rest } = seat
  return { ...rest, presence: 'gone' }
}
