import type { Clock } from '../../shared/base/clock.ts'

/** The clock of one simulated peer: its timers wait while it is frozen, as those of a stopped process do. */
export interface PeerClock extends Clock {
  freeze(): void
  thaw(): void
  /** The peer is dead: nothing of it happens any more. */
  stop(): void
}

export function createPeerClock(clock: Clock): PeerClock {
  let held: (() => void)[] | undefined
  let isStopped = false
  return {
    now: () => clock.now(),
    after(seconds, callback) {
      let isCancelled = false
      const fire = () => {
        if (isCancelled || isStopped) return
        if (held) held.push(fire)
        else callback()
      }
      const cancel = clock.after(seconds, fire)
      return () => {
        isCancelled = true
        cancel()
      }
    },
    freeze() {
      held ??= []
    },
    thaw() {
      const due = held ?? []
      held = undefined
      for (const fire of due) fire()
    },
    stop() {
      isStopped = true
    },
  }
}
