/**
 * What the collective needs of a network: reliable, ordered links between pairs of peers, with back-pressure.
 * The memory transport and the WebRTC transport pass one suite (test/compliance/transport.ts).
 */
import type { Events } from '../base/emitter.ts'
import type { LinkError } from '../base/errors.ts'

/** How far a link is: signalled -> checking -> open -> closed. */
export type LinkState = 'signalled' | 'checking' | 'open' | 'closed'

/** What the network between two peers looks like, in words that people know. */
export type LinkPath = 'memory' | 'direct' | 'reflexive' | 'relayed' | 'unknown'

export interface LinkStatus {
  readonly peerId: string
  readonly state: LinkState
  readonly path: LinkPath
  /** Why the link closed, when it did. */
  readonly error?: LinkError
}

/** An open link to one peer. Messages arrive whole and in the order sent. */
export interface Link {
  readonly peerId: string
  /** The largest message that `send` takes, bytes. */
  readonly maxMessageBytes: number
  /** Bytes handed to `send` that have not left this host yet. */
  readonly bufferedBytes: number
  /**
   * Takes a message; the bytes are copied or sent before the call returns, so the caller may reuse them.
   * Returns false when the queue is over its mark: wait for `drain` before sending more. (It never throws for a full
   * queue and never drops.) Sending on a closed link does nothing and returns false.
   * @throws {PapilioError} TOO_LARGE when the message is over `maxMessageBytes`.
   */
  send(message: Uint8Array): boolean
}

export interface TransportEvents {
  /** A link to `peerId` is open. */
  open: Link
  /**
   * The link is gone, or could not be made at all; `error` says why. Nothing more will come from it, and what was handed
   * over but had not arrived may be lost. Also sent for a link that this side closed itself.
   */
  close: { peerId: string; error: LinkError }
  /** Any change of a link's state, for people to see. */
  status: LinkStatus
}

export interface Transport extends Events<TransportEvents> {
  readonly selfId: string
  /**
   * Asks for links to exactly these peers: opens what is missing, closes what is not wanted any more. A link opens when
   * both sides want it. One that has closed stays closed until it is asked for again, here and there.
   */
  want(peerIds: readonly string[]): void
  link(peerId: string): Link | undefined
  statuses(): readonly LinkStatus[]
  /**
   * Where messages and drain signals go. Messages that came before the handler was set are kept and delivered to it first,
   * in order. The view is valid until the handler returns and then belongs to it (it is never written again).
   */
  receive(handler: LinkHandler): void
  close(): void
}

export interface LinkHandler {
  message(peerId: string, message: Uint8Array): void
  /** The queue of this link fell under its mark again. */
  drain(peerId: string): void
}
