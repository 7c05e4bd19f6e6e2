/**
 * What happens in a schedule, without values: which message carries what, and which contributions each chunk of each
 * rank consists of after each step. Sets of ranks are bit sets of 32-bit words.
 */
import type { RankSchedule, Schedule, Step } from '../../../../shared/schedule/types.ts'

/** `reduce`: the receiver combines what comes in. `copy`: it keeps it as it is. */
export type MessageKind = 'reduce' | 'copy'

export interface Message {
  readonly step: number
  readonly from: number
  readonly to: number
  readonly kind: MessageKind
  readonly chunks: readonly number[]
}

/** What is in each chunk of each rank at one boundary: `after` steps have been done. */
export interface Holdings {
  readonly after: number
  /** Number of contributions in the fullest partial result that the rank has of the chunk; 0 when it has none. */
  count(rank: number, chunk: number): number
  has(rank: number, chunk: number, contributor: number): boolean
  /** False when what is held will not be read any more: it was given away or is superseded. */
  live(rank: number, chunk: number): boolean
}

const noStep: Step = { sends: [], receives: [], locals: [] }

function bitCount(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return (((n + (n >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
}

/** A received vector is combined when the receive says so, or when a local move of that step folds it into another slot or one into it. */
function kindOf(step: Step, from: number): MessageKind {
  const received = step.receives.filter((receive) => receive.from === from)
  const slots = new Set(received.flatMap((receive) => receive.slots))
  const combines =
    received.some((receive) => receive.how !== 'store') ||
    step.locals.some((local) => local.how !== 'store' && (slots.has(local.from) || slots.has(local.slot)))
  return combines ? 'reduce' : 'copy'
}

/** All messages, by step. */
export function messagesOf(schedule: Schedule): Message[][] {
  return Array.from({ length: schedule.steps }, (_, step) =>
    schedule.ranks.flatMap(({ rank, slots, steps }) =>
      (steps[step] ?? noStep).sends.map((send) => ({
        step,
        from: rank,
        to: send.to,
        kind: kindOf(schedule.ranks[send.to]?.steps[step] ?? noStep, rank),
        chunks: send.slots.map((slot) => slots[slot] ?? 0),
      })),
    ),
  )
}

/** Bytes of a chunk of a vector of `bytes` bytes. */
export function chunkBytes(schedule: Schedule, bytes: number, chunk: number): number {
  const { cuts, chunks } = schedule
  if (cuts === undefined) return bytes / chunks
  return bytes * ((cuts[chunk + 1] ?? 1) - (cuts[chunk] ?? 0))
}

export function messageBytes(schedule: Schedule, bytes: number, message: Pick<Message, 'chunks'>): number {
  return message.chunks.reduce((sum, chunk) => sum + chunkBytes(schedule, bytes, chunk), 0)
}

/** Steps up to and including the last one in which anything is combined. */
export function reduceSteps(messages: readonly (readonly Message[])[]): number {
  return messages.reduce(
    (last, step, i) => (step.some((message) => message.kind === 'reduce') ? i + 1 : last),
    0,
  )
}

/** Which slots will still be read, at each boundary 0 .. steps: backwards over what each step reads and overwrites. */
function liveness(part: RankSchedule, steps: number): Uint8Array[] {
  const live = new Uint8Array(part.slots.length)
  for (const slot of part.output) live[slot] = 1
  const boundaries = [live.slice()]
  for (let s = steps - 1; s >= 0; s--) {
    const { sends, receives, locals } = part.steps[s] ?? noStep
    for (const { from, slot, how } of [...locals].reverse()) {
      const wanted = live[slot]
      if (how === 'store') live[slot] = 0
      if (wanted) live[from] = 1
    }
    for (const { slots, how } of [...receives].reverse())
      if (how === 'store') for (const slot of slots) live[slot] = 0
    for (const { slots } of sends) for (const slot of slots) live[slot] = 1
    boundaries.unshift(live.slice())
  }
  return boundaries
}

type SlotSets = readonly Uint32Array[]

function unite(sets: SlotSets, slot: number, value: readonly number[], how: string): void {
  const set = sets[slot]
  if (set === undefined) return
  for (let w = 0; w < set.length; w++)
    set[w] = how === 'store' ? (value[w] ?? 0) : (set[w] ?? 0) | (value[w] ?? 0)
}

function runStep(schedule: Schedule, state: readonly SlotSets[], step: number): void {
  // Sends read the values before the step: copy what travels first.
  const sent = new Map<number, number[][]>()
  for (const { rank, steps } of schedule.ranks)
    for (const { to, slots } of (steps[step] ?? noStep).sends)
      sent.set(
        rank * schedule.size + to,
        slots.map((slot) => [...(state[rank]?.[slot] ?? [])]),
      )
  for (const { rank, steps } of schedule.ranks) {
    const sets = state[rank] ?? []
    const { receives, locals } = steps[step] ?? noStep
    for (const { from, slots, how } of receives) {
      const values = sent.get(from * schedule.size + rank) ?? []
      slots.forEach((slot, i) => {
        unite(sets, slot, values[i] ?? [], how)
      })
    }
    for (const { from, slot, how } of locals) unite(sets, slot, [...(sets[from] ?? [])], how)
  }
}

/** For every (rank, chunk) the slot to show: live before stale, then the fullest. */
function snapshot(
  schedule: Schedule,
  state: readonly SlotSets[],
  live: readonly Uint8Array[],
  after: number,
): Holdings {
  const { size, chunks } = schedule
  const words = Math.ceil(size / 32)
  const sets = new Uint32Array(size * chunks * words)
  const counts = new Uint16Array(size * chunks)
  const alive = new Uint8Array(size * chunks)
  for (const { rank, slots } of schedule.ranks)
    slots.forEach((chunk, slot) => {
      const set = state[rank]?.[slot]
      if (set === undefined) return
      const cell = rank * chunks + chunk
      const count = set.reduce((sum, word) => sum + bitCount(word), 0)
      const isLive = count > 0 ? (live[rank]?.[slot] ?? 0) : 0
      const shown = alive[cell] ?? 0
      if (isLive < shown || (isLive === shown && count <= (counts[cell] ?? 0))) return
      counts[cell] = count
      alive[cell] = isLive
      sets.set(set, cell * words)
    })
  return {
    after,
    count: (rank, chunk) => counts[rank * chunks + chunk] ?? 0,
    live: (rank, chunk) => alive[rank * chunks + chunk] === 1,
    has: (rank, chunk, contributor) =>
      (((sets[(rank * chunks + chunk) * words + (contributor >>> 5)] ?? 0) >>> (contributor & 31)) & 1) === 1,
  }
}

const replayed = new WeakMap<Schedule, readonly Holdings[]>()

/** The holdings at every boundary, 0 .. steps; the same ones for the same schedule. */
export function holdingsOf(schedule: Schedule): readonly Holdings[] {
  const known = replayed.get(schedule)
  if (known !== undefined) return known
  const made = replay(schedule)
  replayed.set(schedule, made)
  return made
}

function replay(schedule: Schedule): Holdings[] {
  const words = Math.ceil(schedule.size / 32)
  const state = schedule.ranks.map(({ rank, slots, input }) => {
    const sets = slots.map(() => new Uint32Array(words))
    for (const slot of input) {
      const set = sets[slot]
      if (set !== undefined) set[rank >>> 5] = (1 << (rank & 31)) >>> 0
    }
    return sets
  })
  const live = schedule.ranks.map((part) => liveness(part, schedule.steps))
  return Array.from({ length: schedule.steps + 1 }, (_, after) => {
    if (after > 0) runStep(schedule, state, after - 1)
    return snapshot(
      schedule,
      state,
      live.map((boundaries) => boundaries[after] ?? new Uint8Array()),
      after,
    )
  })
}
