/**
 * Finds members that do not answer any more. Anything that comes from a peer is a sign of life; when nothing has come for a tenth of the
 * limit, it is asked (a ping, which it answers from its message handler, so that a hidden tab answers too). When nothing comes for a fifth of
 * the limit it is doubted: that costs nothing, and the server, which has another way to it, sees whether it is alive. When nothing comes for the
 * whole limit, the link is of no use, whoever is alive, and is given up. The time in which this member itself did not run (a sleeping laptop, a busy main thread) does not
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
/** Checks per limit, and checks without a sign of life until a peer is doubted. */
const [checks, checksToDoubt] = [10, 2]

export function createHeartbeat(config: {
  clock: Clock
  /** Seconds without a sign of life after which a peer is reported. */
  limitSeconds: number
  lanes(): Iterable<readonly [peerId: string, lane: Lane]>
  /** Again with every so many checks, for as long as the peer is silent. */
  onDoubt(peerId: string): void
  onSilent(peerId: string, seconds: number): void
}): Heartbeat {
  const { clock, limitSeconds } = config
  const heardAt = new Map<string, number>()
  /** How often a peer was asked since it was heard. */
  const asked = new Map<string, number>()
  const period = limitSeconds / checks
  let checkedAt = clock.now()
  let cancel = () => {}

  const check = () => {
    const now = clock.now()
    // This member did not run itself: what it could not hear in that time says nothing about the others.
    if (now - checkedAt > 2 * period) {
      heardAt.clear()
      asked.clear()
    }
    checkedAt = now
    for (const [peerId, lane] of config.lanes()) {
      // What others keep for this member must not wait for another op.
      lane.say()
      const last = heardAt.get(peerId) ?? now
      heardAt.set(peerId, last)
      const silence = now - last
      if (silence >= limitSeconds) {
        forget(peerId)
        config.onSilent(peerId, silence)
      } else if (silence >= period / 2) {
        const times = asked.get(peerId) ?? 0
        if (times > 0 && times % checksToDoubt === 0) config.onDoubt(peerId)
        asked.set(peerId, times + 1)
        lane.sendNow({ kind: 'ping' }, nothing)
      }
    }
    schedule()
  }
  const schedule = () => {
    cancel = clock.after(period, check)
  }
  const forget = (peerId: string) => {
    heardAt.delete(peerId)
    asked.delete(peerId)
  }
  schedule()

  return {
    heard(peerId) {
      heardAt.set(peerId, clock.now())
      asked.delete(peerId)
    },
    forget,
    stop: () => cancel(),
  }
}
