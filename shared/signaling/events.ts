/**
 * The signalling protocol: what clients and the server say to each other over socket.io. These schemas are the one
 * place where foreign input becomes typed; both sides parse with them.
 */
import * as v from 'valibot'
import type { RefusalCode } from '../base/errors.ts'
import type { RemovalCause, View } from '../membership/types.ts'
import { limits } from './limits.ts'

const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,40}$/))
const roomCode = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.maxLength(limits.roomLength),
  v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
)
/** Whether a room can have this code; the server refuses any other as a message that breaks the rules. */
export function isRoomCode(code: string): boolean {
  return v.is(roomCode, code)
}
const epoch = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(limits.epoch))
const name = v.pipe(v.string(), v.trim(), v.maxLength(limits.nameLength))
/** tab, in-page, node ...: shown in the roster. */
const kind = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,15}$/))

export const joinRequestSchema = v.object({
  protocol: v.pipe(v.number(), v.integer()),
  /** Absent with `create`: the server makes a code. */
  room: v.optional(roomCode),
  /** Make the room when it does not exist. Without it an unknown room is refused. */
  create: v.optional(v.boolean(), false),
  name,
  kind,
  /** From an earlier reply: gives back the seat and the name. */
  token: v.optional(id),
  /** With `token`: the same incarnation reconnects and keeps this id. Without it a reload takes the seat with a new id. */
  peerId: v.optional(id),
  /** The last view that this peer knew: lets a restarted server carry on with its epoch and ranks. */
  known: v.optional(
    v.object({
      epoch,
      rank: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(limits.peersPerRoom - 1)),
      /**
       * All members of that view, in rank order. With them the first peer that comes back restores the whole room at an
       * unchanged epoch, and the others have the grace time to follow; without them each return is a new epoch.
       */
      members: v.optional(
        v.pipe(v.array(v.object({ peerId: id, name, kind })), v.maxLength(limits.peersPerRoom)),
      ),
    }),
  ),
})
export type JoinRequest = v.InferInput<typeof joinRequestSchema>

export const signalSchema = v.object({
  to: id,
  /** A WebRTC description or candidate; opaque to the server, at most limits.signalBytes as JSON. */
  data: v.unknown(),
})
export type SignalRequest = v.InferInput<typeof signalSchema>

export const lostSchema = v.object({
  peerId: id,
  epoch,
  reason: v.pipe(v.string(), v.maxLength(limits.reasonLength)),
  /** The link was open until then; else it could not be made. */
  wasOpen: v.optional(v.boolean()),
})
export type LostRequest = v.InferInput<typeof lostSchema>

/** Nothing has come over the open link to this member for a while. */
export const doubtSchema = v.object({ peerId: id, epoch })
export type DoubtRequest = v.InferInput<typeof doubtSchema>

/** What became of a link to another member, told once per link by one side: for the metrics, and it ends a complaint. */
export const linkedSchema = v.object({
  peerId: id,
  path: v.picklist(['direct', 'reflexive', 'relayed', 'unknown', 'failed']),
})
export type LinkedRequest = v.InferInput<typeof linkedSchema>

/** The time of one op on one rank, for the operator's histogram. Peers send it only when told to. */
export const ranSchema = v.object({ seconds: v.pipe(v.number(), v.minValue(0), v.maxValue(86_400)) })
export type RanRequest = v.InferInput<typeof ranSchema>

/** What only the host of the room may do: the peer that made it. */
export const hostSchema = v.variant('action', [
  v.object({ action: v.literal('kick'), peerId: id }),
  /** A locked room takes nobody new; members that lost their connection still come back. */
  v.object({ action: v.literal('lock'), locked: v.boolean() }),
  v.object({ action: v.literal('close') }),
])
export type HostRequest = v.InferInput<typeof hostSchema>

export interface IceServer {
  readonly urls: string | readonly string[]
  readonly username?: string
  readonly credential?: string
}

export type JoinReply =
  | {
      readonly ok: true
      readonly peerId: string
      readonly token: string
      readonly room: string
      /** The name as given: made unique in the room, made up when empty. */
      readonly name: string
      readonly view: View
      /** This peer made the room: `host` requests are open to it. */
      readonly host: boolean
      /** The server's own STUN responder: UDP, on the host that the client reached the server at. */
      readonly stunPort?: number
      /** STUN and TURN servers of the operator. */
      readonly iceServers: readonly IceServer[]
    }
  | { readonly ok: false; readonly code: RefusalCode; readonly message: string }

export interface ClientToServer {
  join(request: JoinRequest, reply: (reply: JoinReply) => void): void
  signal(request: SignalRequest): void
  /** The link to a member is gone. */
  lost(request: LostRequest): void
  doubt(request: DoubtRequest): void
  linked(request: LinkedRequest): void
  ran(request: RanRequest): void
  host(request: HostRequest): void
  leave(reply: () => void): void
}

export interface ServerToClient {
  view(view: View): void
  /** `from` is set by the server. */
  signal(message: { from: string; data: unknown }): void
  /** The seat was taken away; the server ends the connection next. */
  removed(reason: { cause: RemovalCause; code: RefusalCode; message: string }): void
  /** A request of this client broke a rule. */
  refused(refusal: { code: RefusalCode; message: string }): void
  /** Another client claims this seat: an answer proves that this incarnation is alive (a duplicated tab, not a reload). */
  alive(reply: () => void): void
  /** The server goes down for a restart; links between peers stay, the room is rebuilt when it is back. */
  draining(notice: { message: string }): void
}
