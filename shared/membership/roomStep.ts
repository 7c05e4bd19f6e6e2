/** What every step of a room ends with: epoch, clean-up, views to those who need one. */
import { blockedPairs, hasLoss } from './blame.ts'
import type { Known, Reason, Room, RoomEffect, Seat, Step } from './roomTypes.ts'
import type { View } from './types.ts'

/** Seats of people who are gone are remembered up to this multiple of the members that fit. */
const remembered = 2

export function membersOf(room: Room): readonly Seat[] {
  return room.seats.filter(({ presence }) => presence !== 'gone')
}

export function viewOf(room: Room): View {
  const members = membersOf(room).map(({ peerId, name, kind }) => ({ peerId, name, kind }))
  const blocked = blockedPairs(room.complaints)
  return { epoch: room.epoch, members, ...(blocked.length > 0 && { blocked }) }
}

export function stale(room: Room): Step {
  return { room, effects: [], reason: 'stale' }
}

/** Compares the rooms before and after a change of seats or complaints and adds what follows from the difference. */
export function conclude(
  before: Room,
  changed: Room,
  reason: Reason,
  extra: { effects?: readonly RoomEffect[]; joiner?: Seat; known?: Known | undefined } = {},
): Step {
  const { joiner, known } = extra
  const epoch = nextEpoch(before, changed, known)
  let room: Room = { ...changed, epoch, seats: forget(stamp(before, changed.seats, epoch), changed) }
  const present = new Set(membersOf(room).map(({ peerId }) => peerId))
  room = {
    ...room,
    complaints: room.complaints.filter(({ by, about }) => present.has(by) && present.has(about)),
    doubted: room.doubted.filter((peerId) => present.has(peerId)),
  }
  const view = viewOf(room)
  const effects: RoomEffect[] = [...(extra.effects ?? [])]
  if (joiner?.connection && joiner.token) {
    const { connection, peerId, token, name, host } = joiner
    effects.push({ type: 'welcome', connection, peerId, token, name, host, view })
  }
  const news = epoch !== before.epoch || !sameBlocked(view, viewOf(before))
  const to = membersOf(room).flatMap(({ connection }) =>
    connection && connection !== joiner?.connection ? [connection] : [],
  )
  if (news && to.length > 0) effects.push({ type: 'view', to, view })
  if (present.size > 0) {
    const { emptyTimer: _, ...kept } = room
    return { room: kept, effects, reason }
  }
  if (room.emptyTimer !== undefined) return { room, effects, reason }
  const timer = room.timers + 1
  effects.push({ type: 'timer', timer, seconds: room.settings.emptySeconds })
  return { room: { ...room, timers: timer, emptyTimer: timer }, effects, reason }
}

/**
 * One more when the members or their order change or a pair of them loses its link, else the same. After a restart of
 * the server, the epoch that a survivor knows is taken over together with exactly its members; with other members it
 * can only be exceeded.
 */
function nextEpoch(before: Room, after: Room, known: Known | undefined): number {
  const now = membersOf(after).map(({ peerId }) => peerId)
  if (known && known.epoch > before.epoch) {
    const then = known.members?.map(({ peerId }) => peerId)
    return then && sameList(then, now) ? known.epoch : known.epoch + 1
  }
  const same = sameList(
    membersOf(before).map(({ peerId }) => peerId),
    now,
  )
  // What a broken link carried may be lost: the ops of a group need a start from which all of its members agree.
  return same && !hasLoss(before.complaints, after.complaints) ? before.epoch : before.epoch + 1
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index])
}

function sameBlocked(a: View, b: View): boolean {
  return JSON.stringify(a.blocked) === JSON.stringify(b.blocked)
}

/** Notes on each seat at which epoch it came or went. */
function stamp(before: Room, seats: readonly Seat[], epoch: number): readonly Seat[] {
  const was = new Set(membersOf(before).map(({ peerId }) => peerId))
  return seats.map((seat) =>
    was.has(seat.peerId) === (seat.presence !== 'gone') ? seat : { ...seat, since: epoch },
  )
}

/** Drops the seats that have been gone for longest, so that a room cannot grow without end. */
function forget(seats: readonly Seat[], room: Room): readonly Seat[] {
  const gone = seats.filter(({ presence }) => presence === 'gone')
  const excess = gone.length - remembered * room.settings.maxMembers
  if (excess <= 0) return seats
  const dropped = new Set([...gone].sort((a, b) => a.since - b.since).slice(0, excess))
  return seats.filter((seat) => !dropped.has(seat))
}
