import { buildSchedule } from '../../shared/schedule/build.ts'
import { countRank, countSchedule } from '../../shared/schedule/counts.ts'
import type { Algorithm, Settings } from '../../shared/schedule/types.ts'
import { verifySchedule } from '../../shared/schedule/verify.ts'

/** Proves a schedule and measures it: counts of the busiest rank, volumes as fractions of the vector. */
export function prove(algorithm: Algorithm, size: number, settings: Settings = {}) {
  const schedule = buildSchedule(algorithm, size, settings)
  const facts = verifySchedule(schedule, { idempotent: algorithm.restrictions.idempotent })
  const ranks = schedule.ranks.map((part) => countRank(schedule, part))
  return {
    schedule,
    facts,
    ranks,
    ...countSchedule(schedule),
    messages: Math.max(...ranks.map((rank) => rank.messages)),
    sent: Math.max(...ranks.map((rank) => rank.vectorSent)),
    received: Math.max(...ranks.map((rank) => rank.vectorReceived)),
    combined: Math.max(...ranks.map((rank) => rank.vectorCombined)),
  }
}
