/**
 * Who has told something of ops that this member has not called yet (one has failed, the calls of one differ), which is kept until it calls them.
 * No member may speak of more such ops than any program has under way.
 */
import { ProtocolError } from '../base/errors.ts'

const maxAhead = 1024

export interface Ahead {
  /** Whether to keep what the peer tells of the op. */
  admit(peerId: string, op: number): boolean
  /** The op was called. */
  called(op: number): void
  /** Goes through what is left of ops and peers; returns the ops of which nobody who counts has told anything. */
  keepFor(isMeant: (peerId: string, op: number) => boolean): number[]
  count(): number
}

export function createAhead(onOffence: (peerId: string, error: ProtocolError) => void): Ahead {
  const byPeer = new Map<string, Set<number>>()
  const all = () => new Set([...byPeer.values()].flatMap((ops) => [...ops]))
  return {
    admit(peerId, op) {
      const ops = byPeer.get(peerId) ?? new Set()
      byPeer.set(peerId, ops)
      if (ops.size >= maxAhead && !ops.has(op)) {
        onOffence(peerId, new ProtocolError(`news of more than ${maxAhead} ops that were not called here`))
        return false
      }
      ops.add(op)
      return true
    },
    called(op) {
      for (const ops of byPeer.values()) ops.delete(op)
    },
    keepFor(isMeant) {
      const before = all()
      for (const [peerId, ops] of byPeer) {
        for (const op of ops) if (!isMeant(peerId, op)) ops.delete(op)
        if (ops.size === 0) byPeer.delete(peerId)
      }
      const after = all()
      return [...before].filter((op) => !after.has(op))
    },
    count: () => all().size,
  }
}
