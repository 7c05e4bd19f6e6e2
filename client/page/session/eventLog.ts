/** The one log of the page. Whoever shows something subscribes to it; nobody keeps a truth beside it. */
import type { Clock } from '../../../shared/base/clock.ts'
import type { LabEvent, LogEntry } from './events.ts'

/** Old entries are dropped beyond this: a day in a classroom stays under some megabytes. */
const capacity = 5000

/** Progress between two steps is logged at most this often. */
const progressSeconds = 0.05

export interface EventLog {
  readonly entries: readonly LogEntry[]
  /** Entries that were dropped at the beginning. */
  readonly dropped: number
  append(event: LabEvent): void
  /** Calls `listener` with every entry from now on; the returned function ends that. */
  subscribe(listener: (entry: LogEntry) => void): () => void
}

export function createEventLog(clock: Clock): EventLog {
  const begin = clock.now()
  const entries: LogEntry[] = []
  const listeners = new Set<(entry: LogEntry) => void>()
  let dropped = 0
  let lastProgress: { at: number; runId: string; op: number; step: number } | undefined

  /** Every step is logged; between steps some progress is left out. */
  const isNews = (event: LabEvent, at: number) => {
    if (event.kind !== 'progress') return true
    const { op, step, fraction } = event.progress
    const last = lastProgress
    const isSame = last?.runId === event.runId && last.op === op && last.step === step
    if (isSame && fraction < 1 && at - last.at < progressSeconds) return false
    lastProgress = { at, runId: event.runId, op, step }
    return true
  }

  return {
    entries,
    get dropped() {
      return dropped
    },
    append(event) {
      const at = clock.now() - begin
      if (!isNews(event, at)) return
      const entry = { at, event }
      entries.push(entry)
      if (entries.length > capacity) {
        entries.splice(0, capacity / 10)
        dropped += capacity / 10
      }
      for (const listener of [...listeners]) listener(entry)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
