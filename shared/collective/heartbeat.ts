/**
 * Finds members that do not answer any more. Anything that comes from a peer is a sign of life; when nothing has come for a third of the
 * limit, it is asked (a ping, which it answers from its message handler, so that a hidden tab answers too), and when nothing comes for the
 * rest of the limit, it is reported. The time in which this member itself did not run (a sleeping laptop, a busy main thread) does not
 * count against the others.
 */
import type { Clock } from '../base/clock.ts'
import type { Lane } from './lane.ts'

export interface Heartbeat {
  heard(peerId: string): void
  forget(peerId: string): void
  stop(): void
}

const nothing = new Uint8Array(0)
/** Checks per limit. */
const checks = 6

export function createHeartbeat(config: {
  clock: Clock
  /** Seconds without a sign of life after which a peer is reported. */
  limitSeconds: number
  lanes(): Iterable<readonly [peerId: string, lane: Lane]>
  onSilent(peerId: string, seconds: number): void
}): Heartbeat {
  const { clock, limitSeconds } = config
  const heardAt = new Map<string, number>()
  const period = limitSeconds / checks
  let checkedAt = clock.now()
  let cancel = () => {}

  const check = () => {
    const now = clock.now()
    // This member did not run itself: what it could not hear in that time says nothing about the others.
    if (now - checkedAt > 2 * period) heardAt.clear()
    checkedAt = now
    for (const [peerId, lane] of config.lanes()) {
      // What others keep for this member must not wait for another op.
      lane.say()
      const last = heardAt.get(peerId) ?? now
      heardAt.set(peerId, last)
      const silence = now - last
      if (silence >= limitSeconds) {
        heardAt.delete(peerId)
        config.onSilent(peerId, silence)
      } else if (silence >= limitSeconds / 3) lane.sendNow({ kind: 'ping' }, nothing)
    }
    schedule()
  }
  const schedule = () => {
    cancel = clock.after(period, check)
  }
  schedule()

  return {
    heard: (peerId) => heardAt.set(peerId, clock.now()),
    forget: (peerId) => heardAt.delete(peerId),
    stop: () => cancel(),
  }
}
