/** What a run of a schedule might have measured: every link with its own latency and rate, no barrier between steps. */

import { messageBytes, messagesOf } from '../../../../client/page/stage/timetable/flow.ts'
import type { TraceMessage } from '../../../../shared/collective/types.ts'
import type { Schedule } from '../../../../shared/schedule/types.ts'

/** A small linear congruential generator: the same traces in every run. */
function noise(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

export function tracesOf(schedule: Schedule, bytes: number, seed = 1): TraceMessage[][] {
  const random = noise(seed)
  const traces: TraceMessage[][] = schedule.ranks.map(() => [])
  const rates = schedule.ranks.map(() => schedule.ranks.map(() => 18e6 + random() * 14e6))
  let ready = schedule.ranks.map(() => random() * 0.0006)
  for (const messages of messagesOf(schedule)) {
    const next = [...ready]
    for (const message of messages) {
      const { step, from, to } = message
      const size = messageBytes(schedule, bytes, message)
      const begin = ready[from] ?? 0
      const end = begin + 0.0005 + random() * 0.0006 + size / (rates[from]?.[to] ?? 25e6)
      traces[from]?.push({ step, direction: 'send', peer: to, bytes: size, begin, end: end - 0.0002 })
      traces[to]?.push({ step, direction: 'receive', peer: from, bytes: size, begin: begin + 0.0003, end })
      next[to] = Math.max(next[to] ?? 0, end, ready[to] ?? 0)
      next[from] = Math.max(next[from] ?? 0, end - 0.0002)
    }
    ready = next
  }
  return traces
}

/** Alpha-beta prediction of each step at 25 MB/s. */
export function predictionOf(schedule: Schedule, bytes: number): number[] {
  return messagesOf(schedule).map(
    (messages) => 0.0007 + Math.max(0, ...messages.map((m) => messageBytes(schedule, bytes, m))) / 26e6,
  )
}
