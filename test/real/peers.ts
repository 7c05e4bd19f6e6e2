/** A peer under test as whoever directs it sees it, and where such peers come from. */
import type { Emitter } from '../../shared/base/emitter.ts'
import type { Command, FaultKind, Said } from './messages.ts'

export interface Peer {
  /** `gone`: the process or page has ended, at this time. */
  readonly heard: Emitter<{ said: Said; gone: number }>
  readonly isGone: boolean
  post(command: Command): void
  /** Does to it what it cannot do to itself. */
  strike(kind: FaultKind): void
  /** It stands still, until it goes on. */
  pause(): void
  resume(): void
  end(): Promise<void>
}

export interface PeerSource {
  readonly kinds: readonly FaultKind[]
  take(): Promise<Peer>
  /** Takes a peer back that is in no group. */
  give(peer: Peer): void
  close(): Promise<void>
}

/** Keeps peers for the next scenario: to start one takes a second. */
export function reuse(kinds: readonly FaultKind[], start: () => Promise<Peer>): PeerSource {
  const idle: Peer[] = []
  const all = new Set<Peer>()
  return {
    kinds,
    async take() {
      for (let peer = idle.pop(); peer; peer = idle.pop()) if (!peer.isGone) return peer
      const peer = await start()
      all.add(peer)
      peer.heard.on('gone', () => all.delete(peer))
      return peer
    },
    give(peer) {
      if (!peer.isGone) idle.push(peer)
    },
    async close() {
      await Promise.all([...all].map((peer) => peer.end()))
    },
  }
}
