/** What the messages of a run say: who waited for whom, and which chain of messages made it as long as it was. */
import type { TraceMessage } from '../../../../shared/collective/types.ts'

/** Time in which a rank neither sends nor receives, up to the next message from `peers`. */
export interface Wait {
  readonly rank: number
  readonly step: number
  readonly begin: number
  readonly end: number
  readonly peers: readonly number[]
}

/** The gaps between the messages of one rank, each with those whose message ended it. */
export function waitsOf(rank: number, trace: readonly TraceMessage[]): Wait[] {
  const sorted = [...trace].sort((a, b) => a.begin - b.begin)
  const waits: Wait[] = []
  let busyUntil = 0
  for (const message of sorted) {
    if (message.begin > busyUntil) {
      const next = sorted.find((m) => m.direction === 'receive' && m.begin >= message.begin)
      const peers = sorted
        .filter((m) => m.direction === 'receive' && m.step === next?.step && m.begin >= message.begin)
        .map((m) => m.peer)
      if (next !== undefined && message.direction === 'receive')
        waits.push({ rank, step: message.step, begin: busyUntil, end: message.begin, peers })
    }
    busyUntil = Math.max(busyUntil, message.end)
  }
  return waits
}

/**
 * The chain of messages that made the run as long as it was, last one first: each was sent by a rank that had itself
 * just got the message before it.
 */
export function criticalPath(
  messages: readonly (readonly TraceMessage[] | undefined)[],
): { readonly from: number; readonly to: number; readonly step: number }[] {
  const received = (rank: number) => (messages[rank] ?? []).filter((m) => m.direction === 'receive')
  const last = <T extends { readonly end: number }>(list: readonly T[]): T | undefined =>
    list.reduce<T | undefined>((best, m) => (best === undefined || m.end > best.end ? m : best), undefined)
  const path: { from: number; to: number; step: number }[] = []
  let current = last(messages.flatMap((_, to) => received(to).map((m) => ({ ...m, to }))))
  while (current !== undefined) {
    const { peer, to, step } = current
    path.push({ from: peer, to, step })
    const before = last(received(peer).filter((m) => m.step < step))
    current = before && { ...before, to: peer }
  }
  return path
}

/** Messages that overlap get a lane each. */
export function lanesOf(
  messages: readonly TraceMessage[],
): { readonly message: TraceMessage; readonly lane: number }[] {
  const free: number[] = []
  return [...messages]
    .sort((a, b) => a.begin - b.begin || a.end - b.end)
    .map((message) => {
      const found = free.findIndex((end) => end <= message.begin + 1e-9)
      const lane = found === -1 ? free.length : found
      free[lane] = message.end
      return { message, lane }
    })
}
