import type { RefusalCode } from '../base/errors.ts'
import type { Member, RemovalCause, View } from './types.ts'

export interface RoomSettings {
  readonly maxMembers: number
  readonly nameLength: number
  /** How long a member whose connection broke keeps its place in the view. */
  readonly graceSeconds: number
  /** How long one that has not come back since a restart of the server keeps it when another member says that their link is gone. */
  readonly accusedSeconds: number
  /** How long a room without members is kept. */
  readonly emptySeconds: number
}

/** here: connected. away: connection broken, still in the view until its timer ends. gone: not in the view, remembered. */
export type Presence = 'here' | 'away' | 'gone'

export interface Seat extends Member {
  /** The secret of its owner. Absent: known only from another member's view after a restart, not claimed yet. */
  readonly token?: string
  readonly presence: Presence
  /** The connection of a seat that is here. */
  readonly connection?: string
  /** The timer that ends the absence of a seat that is away. */
  readonly timer?: number
  readonly host: boolean
  /** Seats are kept in this order, which is the order of joining; members among them have ranks 0, 1, 2 ... */
  readonly order: number
  /** The epoch at which the seat last came into the view or left it. */
  readonly since: number
  /** After a restart of the server: the epoch of the newest view of a survivor that has this member. */
  readonly restoredAt?: number
}

/** `by` says that it has no link to `about`. */
export interface Complaint {
  readonly by: string
  readonly about: string
  readonly reason: string
  /** The epoch of the room when it was said. */
  readonly at: number
  /** An open link was lost, and the epoch that must follow has not begun: the accused has not been heard yet. */
  readonly isPending: boolean
  /** The accused has shown since that it is alive: it is the link that is missing, not the member. */
  readonly isConfirmed: boolean
}

/** Plain data: can be stored, compared and replayed. */
export interface Room {
  readonly settings: RoomSettings
  readonly epoch: number
  readonly seats: readonly Seat[]
  readonly complaints: readonly Complaint[]
  /** PeerIds of connected members of which others hear nothing, and that have been asked whether they are alive. */
  readonly doubted: readonly string[]
  readonly locked: boolean
  readonly closed: boolean
  /** The number of the last timer asked for. A timer that is not referred to any more is ignored when it ends. */
  readonly timers: number
  readonly emptyTimer?: number
  /** While it runs, a peer that outlived a server restart may bring back members that have not returned yet. */
  readonly youngTimer?: number
}

/** The last view that a returning peer knew. */
export interface Known {
  readonly epoch: number
  readonly rank: number
  readonly members?: readonly Member[] | undefined
}

export interface JoinEvent {
  readonly type: 'join'
  readonly connection: string
  readonly name: string
  readonly kind: string
  readonly token?: string | undefined
  readonly peerId?: string | undefined
  readonly known?: Known | undefined
  /** The token proves that its owner made the room. */
  readonly host?: boolean
  /** Identities and luck for a seat that needs them: a pure function makes none. */
  readonly fresh: { readonly peerId: string; readonly token: string; readonly seed: number }
}

export type RoomEvent =
  | JoinEvent
  | { readonly type: 'leave'; readonly connection: string }
  | { readonly type: 'disconnect'; readonly connection: string }
  | { readonly type: 'expire'; readonly timer: number }
  | {
      readonly type: 'lost'
      readonly connection: string
      readonly peerId: string
      /** Of the complainant when it lost the link. */
      readonly epoch: number
      readonly reason: string
      /** The link was open until then; else it could not be made. */
      readonly wasOpen?: boolean | undefined
    }
  /** The link to a member is open, and nothing has come over it for a while. */
  | { readonly type: 'doubt'; readonly connection: string; readonly peerId: string; readonly epoch: number }
  /** The connection was asked whether it is alive, and did or did not answer. */
  | { readonly type: 'answered'; readonly connection: string }
  | { readonly type: 'silent'; readonly connection: string }
  | { readonly type: 'linked'; readonly connection: string; readonly peerId: string }
  | { readonly type: 'kick'; readonly connection: string; readonly peerId: string }
  | { readonly type: 'lock'; readonly connection: string; readonly locked: boolean }
  | { readonly type: 'close'; readonly connection: string }

/** What the server has to do after a step, in order. */
export type RoomEffect =
  | {
      readonly type: 'welcome'
      readonly connection: string
      readonly peerId: string
      readonly token: string
      readonly name: string
      readonly host: boolean
      readonly view: View
    }
  | {
      readonly type: 'refuse'
      readonly connection: string
      readonly code: RefusalCode
      readonly message: string
    }
  | { readonly type: 'view'; readonly to: readonly string[]; readonly view: View }
  | {
      readonly type: 'removed'
      readonly connection: string
      readonly cause: RemovalCause
      readonly message: string
    }
  /** Ask whether this connection is alive; `answered` or `silent` comes back. */
  | { readonly type: 'probe'; readonly connection: string }
  | { readonly type: 'timer'; readonly timer: number; readonly seconds: number }

/** What happened, for logs and metrics. */
export type Reason =
  | 'joined'
  | 'resumed'
  | 'replaced'
  | 'reconnected'
  | 'refused'
  | 'left'
  | 'away'
  | 'expired'
  | 'lost'
  | 'unreachable'
  | 'complaint'
  | 'doubted'
  | 'blocked'
  | 'linked'
  | 'kicked'
  | 'locked'
  | 'unlocked'
  | 'closed'
  | 'settled'
  | 'stale'

export interface Step {
  readonly room: Room
  readonly effects: readonly RoomEffect[]
  readonly reason: Reason
}
