/**
 * What the ranks of one op report, as a trace for Perfetto and chrome://tracing (Chrome's Trace Event Format, JSON): a process for
 * each rank, slices for steps and messages, and an arrow from each send to its receive.
 *
 * Slices of one thread must nest, or the viewer moves or drops them; messages to one peer overlap when steps do. So each
 * thread has as many rows as it needs to have none overlap.
 */
import type { Settings } from '../schedule/types.ts'
import type { TraceMessage } from './types.ts'

export interface TracedOp {
  readonly algorithm: string
  readonly settings: Settings
  readonly steps: number
  /** In rank order; `messages` as in the report of the rank, undefined where it is not known. */
  readonly ranks: readonly {
    readonly name: string
    readonly messages?: readonly TraceMessage[] | undefined
  }[]
}

/** Times in microseconds. Phases: M names, X slice, s and f ends of an arrow. */
export interface TraceEvent {
  readonly name: string
  readonly ph: 'M' | 'X' | 's' | 'f'
  readonly pid: number
  readonly tid: number
  readonly ts?: number
  readonly dur?: number
  readonly cat?: string
  readonly id?: string
  readonly bp?: 'e'
  readonly args?: Readonly<Record<string, string | number | boolean>>
}

export interface Trace {
  readonly displayTimeUnit: 'ms'
  readonly traceEvents: readonly TraceEvent[]
  readonly otherData: Readonly<Record<string, unknown>>
}

/** Larger traces load slowly or not at all: about 5 MB at 500 bytes for a message. Steps are kept whatever there is. */
const maxMessages = 10_000

interface Span {
  readonly begin: number
  readonly end: number
}

/** One message as both sides saw it. */
interface Passage {
  readonly step: number
  readonly from: number
  readonly to: number
  readonly sent?: TraceMessage
  readonly received?: TraceMessage
}

/** @param about what else belongs into `otherData`: bytes, epoch, versions */
export function traceOf(op: TracedOp, about: Readonly<Record<string, unknown>> = {}): Trace {
  const { algorithm, settings, steps, ranks } = op
  const known = ranks.map(({ messages }) => messages ?? [])
  const passages = passagesOf(known)
  const isWhole = passages.length <= maxMessages
  const rows = ranks.map(() => createRows())
  const events: TraceEvent[] = []

  const addSlice = (pid: number, thread: string, name: string, span: Span, args: TraceEvent['args']) => {
    const tid = rows[pid]!.place(thread, span)
    const [ts, dur] = [micro(span.begin), micro(span.end - span.begin)]
    events.push({ name, ph: 'X', pid, tid, ts, dur, ...(args && { args }) })
    return { pid, tid }
  }

  for (const [pid, messages] of known.entries())
    for (let step = 0; step < steps; step++) {
      const ofStep = messages.filter((message) => message.step === step)
      if (ofStep.length > 0) addSlice(pid, 'steps', `step ${step + 1}`, spanOf(ofStep), { step })
    }
  for (const { step, from, to, sent, received } of isWhole ? passages : []) {
    const args = { step, from, to, bytes: sent?.bytes ?? received?.bytes ?? 0 }
    const start = sent && addSlice(from, `send→${to}`, `to ${to}`, sent, args)
    if (!received) continue
    // Every rank counts from its own start: an arrow must not go back in time, so the slice is drawn longer and says so.
    const end = Math.max(received.end, sent?.begin ?? 0)
    const shown = end > received.end ? { ...args, clockUncertain: true } : args
    const goal = addSlice(to, `recv←${from}`, `from ${from}`, { begin: received.begin, end }, shown)
    if (!sent || !start) continue
    const arrow = { name: 'message', cat: 'message', id: idOf(step, from, to) }
    events.push({ ...arrow, ph: 's', ...start, ts: micro(sent.begin) })
    events.push({ ...arrow, ph: 'f', bp: 'e', ...goal, ts: micro(end) })
  }
  const names = ranks.flatMap(({ name }, pid): TraceEvent[] => [
    { name: 'process_name', ph: 'M', pid, tid: 0, args: { name: `rank ${pid} · ${name}` } },
    { name: 'process_sort_index', ph: 'M', pid, tid: 0, args: { sort_index: pid } },
    ...rows[pid]!.names.map(
      (thread, tid): TraceEvent => ({ name: 'thread_name', ph: 'M', pid, tid, args: { name: thread } }),
    ),
  ])
  return {
    displayTimeUnit: 'ms',
    traceEvents: [...names, ...events],
    otherData: {
      schema: 'papilio-trace-1',
      size: ranks.length,
      algorithm,
      settings,
      steps,
      clock: 'since the start of the op on each rank; the starts are not aligned',
      ...(isWhole ? {} : { omittedMessages: passages.length }),
      ...about,
    },
  }
}

const micro = (seconds: number) => Math.round(seconds * 1e9) / 1e3
const idOf = (step: number, from: number, to: number) => `${step}-${from}-${to}`

function spanOf(messages: readonly TraceMessage[]): Span {
  return messages.reduce<Span>(
    (span, { begin, end }) => ({ begin: Math.min(span.begin, begin), end: Math.max(span.end, end) }),
    messages[0]!,
  )
}

function passagesOf(known: readonly (readonly TraceMessage[])[]): Passage[] {
  const passages = new Map<string, Passage>()
  for (const [rank, messages] of known.entries())
    for (const message of messages) {
      const { step, peer, direction } = message
      const isSent = direction === 'send'
      const [from, to] = isSent ? [rank, peer] : [peer, rank]
      const id = idOf(step, from, to)
      const side = isSent ? { sent: message } : { received: message }
      passages.set(id, { step, from, to, ...passages.get(id), ...side })
    }
  return [...passages.values()]
}

/** The threads of one process: by name, each with more rows where spans overlap. */
function createRows() {
  const names: string[] = []
  const ends: number[] = []
  return {
    names,
    /** The number of the row that has room for the span. */
    place(thread: string, { begin, end }: Span): number {
      for (let copy = 1; ; copy++) {
        const name = copy === 1 ? thread : `${thread} (${copy})`
        const known = names.indexOf(name)
        const row = known < 0 ? names.push(name) - 1 : known
        if (known >= 0 && ends[row]! > begin) continue
        ends[row] = end
        return row
      }
    },
  }
}
