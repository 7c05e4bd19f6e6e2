/** Membership as everybody sees it. The server numbers epochs; ranks are positions in `members`. */

export interface Member {
  /** Identity that survives re-ranking; a reloaded page is a new peerId with the old seat. */
  readonly peerId: string
  readonly name: string
  /** Where the peer runs, for people: 'tab', 'in-page', 'node', ... */
  readonly kind: string
}

/** Two members that both reach the server but not each other: peerIds, and what the one who complained said. */
export interface BlockedPair {
  readonly a: string
  readonly b: string
  readonly reason: string
}

/**
 * A new pair without a link is a new epoch, since messages may be lost. Two views with the same epoch have the same
 * members; the later one only drops pairs from `blocked` that have a link again.
 */
export interface View {
  readonly epoch: number
  /** In rank order: members[rank]. */
  readonly members: readonly Member[]
  /** Pairs without a link, when there are any. */
  readonly blocked?: readonly BlockedPair[]
}

/** Why a seat was taken away. Only after `lost` and `unreachable` does it make sense to join again without being asked. */
export type RemovalCause = 'kicked' | 'closed' | 'replaced' | 'lost' | 'unreachable'

/** Where views come from and where losses are reported to. The signalling client is one; tests make their own. */
export interface Membership {
  readonly selfId: string
  view(): View | undefined
  onView(listener: (view: View) => void): () => void
  /**
   * Tells the arbiter that the link to `peerId` is gone (`wasOpen`: what it carried may be lost) or could not be made; a new view follows if it
   * agrees.
   */
  reportLost(peerId: string, reason: string, wasOpen: boolean): void
  /** Nothing has come over the open link to `peerId` for a while. The arbiter, if it has another way, asks whether it is alive. */
  doubt?(peerId: string): void
  leave(): Promise<void>
}
