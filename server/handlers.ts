/** What the server does at each event of a client. */
import { unreachable } from '../shared/base/assert.ts'
import {
  type ClientToServer,
  doubtSchema,
  hostSchema,
  linkedSchema,
  lostSchema,
  ranSchema,
} from '../shared/signaling/events.ts'
import { handleJoin, type JoiningParts } from './joining.ts'
import { parse, Refusal, replyIn } from './refusing.ts'
import { type RelayingParts, relay } from './relaying.ts'
import type { ClientSocket, Place } from './socketTypes.ts'

/** Throws a Refusal when the client broke a rule. */
type Handler = (socket: ClientSocket, args: readonly unknown[]) => void | Promise<void>

export function createHandlers(parts: JoiningParts & RelayingParts): ReadonlyMap<string, Handler> {
  const { rooms, metrics } = parts
  const handlers: Readonly<Record<keyof ClientToServer, Handler>> = {
    join(socket, args) {
      const reply = replyIn(args)
      if (!reply) throw new Refusal('PROTOCOL', 'join: a reply function is missing')
      return handleJoin(parts, socket, args[0], reply)
    },
    signal(socket, [raw]) {
      relay(parts, placeOf(socket, 'signal'), raw)
    },
    lost(socket, [raw]) {
      const { code } = placeOf(socket, 'lost')
      rooms.dispatch(code, { type: 'lost', connection: socket.id, ...parse(lostSchema, 'lost', raw) })
    },
    doubt(socket, [raw]) {
      const { code } = placeOf(socket, 'doubt')
      rooms.dispatch(code, { type: 'doubt', connection: socket.id, ...parse(doubtSchema, 'doubt', raw) })
    },
    linked(socket, [raw]) {
      const { code } = placeOf(socket, 'linked')
      const { peerId, path } = parse(linkedSchema, 'linked', raw)
      metrics.links.inc({ path })
      if (path !== 'failed') rooms.dispatch(code, { type: 'linked', connection: socket.id, peerId })
    },
    ran(socket, [raw]) {
      placeOf(socket, 'ran')
      metrics.runs.observe(parse(ranSchema, 'ran', raw).seconds)
    },
    host(socket, [raw]) {
      const { code } = placeOf(socket, 'host')
      const { id: connection } = socket
      const request = parse(hostSchema, 'host', raw)
      switch (request.action) {
        case 'kick':
          return rooms.dispatch(code, { type: 'kick', connection, peerId: request.peerId })
        case 'lock':
          return rooms.dispatch(code, { type: 'lock', connection, locked: request.locked })
        case 'close':
          return rooms.dispatch(code, { type: 'close', connection })
        default:
          return unreachable(request)
      }
    },
    leave(socket, args) {
      const { place } = socket.data
      delete socket.data.place
      if (place) rooms.dispatch(place.code, { type: 'leave', connection: socket.id })
      const reply = args.at(-1)
      if (typeof reply === 'function') reply()
    },
  }
  return new Map(Object.entries(handlers))
}

function placeOf(socket: ClientSocket, event: string): Place {
  if (!socket.data.place) throw new Refusal('PROTOCOL', `${event}: this connection has no seat; join first`)
  return socket.data.place
}
