import type { RankSchedule } from '../schedule/types.ts'

/** Partners of different steps are busy one after the other, or with pipelining some of them together: each keeps so much of the window. */
const leastOfSuccessive = 1 / 3

/**
 * The part of a link's window that the messages of this rank's schedule may fill. A window is 4 x bandwidth x round trip of the host's line; a rank
 * that sends to k peers at once has k windows on that one line, and so has each receiver, where more than its queue holds is dropped. So all
 * partners of one step share one window.
 */
export function windowShareOf(part: Pick<RankSchedule, 'steps'>): number {
  const partners = part.steps.map((step) => new Set(step.sends.map((send) => send.to)))
  const atOnce = Math.max(1, ...partners.map((peers) => peers.size))
  const inAll = Math.max(1, new Set(partners.flatMap((peers) => [...peers])).size)
  return Math.min(1 / atOnce, Math.max(1 / inAll, leastOfSuccessive))
}
