/**
 * Calls that this member has ended. A rank that only sends may be done before others see that their calls differ from its own: it can
 * still tell them what it had called.
 */
import type { Call } from './control.ts'
import type { Attempt } from './recovery.ts'

/** More than any program has in flight. */
const maxKept = 128

export interface PastCall {
  readonly attempt: Attempt
  readonly call: Call
  readonly signature: number
  /** PeerIds of those that it sent to, unless it failed. */
  readonly sentTo: ReadonlySet<string>
}

export interface PastCalls {
  add(op: number, past: PastCall): void
  get(op: number): PastCall | undefined
  /** Ops that have ended well here and in which this member has sent to the peer. */
  sentTo(peerId: string): number[]
  /** For a member that asks, once: an answer must not be answered by another member that has ended the op too. */
  answer(op: number, peerId: string): Call | undefined
}

export function createPastCalls(): PastCalls {
  const kept = new Map<number, PastCall & { answered: Set<string> }>()
  return {
    add(op, { attempt, call, signature, sentTo }) {
      kept.set(op, { attempt, call, signature, sentTo, answered: new Set() })
      if (kept.size > maxKept) kept.delete(kept.keys().next().value!)
    },
    get: (op) => kept.get(op),
    sentTo: (peerId) => [...kept].flatMap(([op, { sentTo }]) => (sentTo.has(peerId) ? [op] : [])),
    answer(op, peerId) {
      const past = kept.get(op)
      if (!past || past.answered.has(peerId)) return undefined
      past.answered.add(peerId)
      return past.call
    },
  }
}
