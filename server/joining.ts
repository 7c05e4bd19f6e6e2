/** The way of a join from a client's request to an event for the room. */
import type { Clock } from '../shared/base/clock.ts'
import type { JoinEvent } from '../shared/membership/roomTypes.ts'
import { type JoinReply, joinRequestSchema } from '../shared/signaling/events.ts'
import { protocolVersion } from '../shared/signaling/limits.ts'
import { networkOf } from './address.ts'
import type { Budgets } from './budget.ts'
import { isAlive } from './challenge.ts'
import { freeCode, freshIds, hostToken, isHostToken } from './codes.ts'
import type { ServerConfig } from './config.ts'
import { parse, Refusal } from './refusing.ts'
import type { Rooms } from './rooms.ts'
import type { ClientSocket } from './socketTypes.ts'

export interface JoiningParts {
  readonly config: ServerConfig
  readonly secret: string
  readonly clock: Clock
  readonly rooms: Rooms
  readonly budgets: Budgets
  isDraining(): boolean
  socketOf(connection: string): ClientSocket | undefined
}

/** Throws a Refusal; otherwise the room answers, with a welcome or a refusal of its own. */
export async function handleJoin(
  parts: JoiningParts,
  socket: ClientSocket,
  raw: unknown,
  reply: (reply: JoinReply) => void,
): Promise<void> {
  const { config, secret, rooms } = parts
  if (socket.data.reply) throw new Refusal('PROTOCOL', 'join: another join is under way')
  if (socket.data.place) throw new Refusal('PROTOCOL', 'join: this connection has a seat; leave it first')
  socket.data.reply = reply
  checkVersion(raw)
  const request = parse(joinRequestSchema, 'join', raw)
  if (!(await parts.budgets.join(networkOf(socket.request, config.trustProxy)))) {
    throw new Refusal('RATE_LIMITED', 'Too many joins from your network. Wait a minute and try again.')
  }
  const code = request.room ?? freeCode((used) => rooms.get(used) !== undefined)
  const isDuplicate =
    request.token !== undefined && (await isHeld(parts, code, request.token, request.peerId))
  if (!socket.connected) return

  const fresh = freshIds()
  let claim: Pick<JoinEvent, 'token' | 'peerId' | 'known'> = {}
  if (!isDuplicate) claim = { token: request.token, peerId: request.peerId, known: request.known }
  if (!rooms.get(code)) {
    checkNewRoom(parts, code, request.create || claim.known !== undefined)
    if (!claim.known) {
      // Nothing to come back to: this is the host of a new room.
      claim = {}
      fresh.token = hostToken(secret, code)
    }
    rooms.open(code)
  }
  const { name, kind } = request
  const host = isHostToken(secret, code, (claim.known && claim.token) ?? fresh.token)
  rooms.dispatch(code, { type: 'join', connection: socket.id, name, kind, fresh, host, ...claim })
}

function checkNewRoom({ config, rooms, isDraining }: JoiningParts, code: string, isWanted: boolean): void {
  if (!isWanted) {
    throw new Refusal('ROOM_UNKNOWN', `There is no room ${code}. Check the code, or make a new room.`)
  }
  if (isDraining()) throw new Refusal('ROOM_CLOSED', 'The server is about to restart. Try again in a moment.')
  if (rooms.count >= config.maxRooms) {
    throw new Refusal('RATE_LIMITED', `This server has ${config.maxRooms} rooms already. Try again later.`)
  }
}

/** The version comes first: a client of another version cannot be expected to follow this one's schema. */
function checkVersion(raw: unknown): void {
  const theirs = typeof raw === 'object' && raw !== null && 'protocol' in raw ? raw.protocol : undefined
  if (typeof theirs !== 'number') throw new Refusal('PROTOCOL', 'join.protocol: a version number is missing')
  if (theirs === protocolVersion) return
  throw new Refusal(
    'VERSION_MISMATCH',
    `This page speaks version ${theirs} of the protocol, the server version ${protocolVersion}. Reload the page.`,
  )
}

/**
 * A seat is asked for whose owner is connected. The same incarnation may always move to its new connection; for
 * another one the owner is asked: if it answers, a tab was duplicated and the copy must not take the seat.
 */
async function isHeld(
  { config, clock, rooms, socketOf }: JoiningParts,
  code: string,
  token: string,
  peerId: string | undefined,
): Promise<boolean> {
  const seat = rooms.get(code)?.seats.find((other) => other.token === token)
  if (!seat?.connection || seat.peerId === peerId) return false
  const owner = socketOf(seat.connection)
  return owner !== undefined && isAlive(owner, clock, config.aliveSeconds)
}
