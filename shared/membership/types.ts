/** Membership as everybody sees it. The server numbers epochs; ranks are positions in `members`. */

export interface Member {
  /** Identity that survives re-ranking; a reloaded page is a new peerId with the old seat. */
  readonly peerId: string
  readonly name: string
  /** Where the peer runs, for people: 'tab', 'in-page', 'node', ... */
  readonly kind: string
}

export interface View {
  readonly epoch: number
  /** In rank order: members[rank]. */
  readonly members: readonly Member[]
}

/** Where views come from and where losses are reported to. The signalling client is one; tests make their own. */
export interface Membership {
  readonly selfId: string
  view(): View | undefined
  onView(listener: (view: View) => void): () => void
  /** Tells the arbiter that the link to `peerId` is gone; a new view follows if it agrees. */
  reportLost(peerId: string, reason: string): void
  leave(): Promise<void>
}
