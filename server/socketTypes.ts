import type { DefaultEventsMap, Server, Socket } from 'socket.io'
import type { ClientToServer, JoinReply, ServerToClient } from '../shared/signaling/events.ts'

/** What comes in is foreign: unknown until a schema has parsed it. */
export type Incoming = { [Name in keyof ClientToServer]: (...args: unknown[]) => void }

/** Where a connection sits. */
export interface Place {
  readonly code: string
  readonly peerId: string
}

export interface SocketState {
  place?: Place
  /** Answers the join that is under way. */
  reply?: (reply: JoinReply) => void
}

export type ClientSocket = Socket<Incoming, ServerToClient, DefaultEventsMap, SocketState>
export type SocketServer = Server<Incoming, ServerToClient, DefaultEventsMap, SocketState>
