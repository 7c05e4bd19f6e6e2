/** Signals of peers that this side does not want yet: their view of the room was a moment ahead of ours. */
import type { Clock } from '../../shared/base/clock.ts'
import { attemptSeconds } from './pairing.ts'
import type { PeerSignal } from './peerSignal.ts'

/** A room has at most 128 members; an offer with its candidates is 5 to 30 signals. */
const peersAtMost = 128
const signalsAtMost = 64

export interface EarlySignals {
  keep(from: string, signal: PeerSignal): void
  /** Hands out what is still of use, and forgets it. */
  take(from: string): readonly PeerSignal[]
}

export function createEarlySignals(clock: Clock): EarlySignals {
  const kept = new Map<string, { since: number; attempt: number; signals: PeerSignal[] }>()
  return {
    keep(from, signal) {
      const before = kept.get(from)
      if (before && signal.attempt < before.attempt) return
      if (before?.attempt === signal.attempt) {
        if (before.signals.length < signalsAtMost) before.signals.push(signal)
        return
      }
      kept.delete(from)
      kept.set(from, { since: clock.now(), attempt: signal.attempt, signals: [signal] })
      const oldest = kept.keys().next()
      if (kept.size > peersAtMost && !oldest.done) kept.delete(oldest.value)
    },
    take(from) {
      const entry = kept.get(from)
      kept.delete(from)
      // After this time the sender has given the attempt up.
      return entry && clock.now() - entry.since < attemptSeconds ? entry.signals : []
    },
  }
}
