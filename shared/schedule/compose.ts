/**
 * Writing one rank's part, alone or from finished parts of smaller schedules. A draft knows which slot holds the
 * rank's present value of each chunk, so that phases follow each other without naming slots: a reduce-scatter inside
 * a group, an allreduce between groups, an allgather inside, each made by an algorithm that knows nothing of the rest.
 */
import { assert } from '../base/assert.ts'
import { joinReceives } from './joinReceives.ts'
import type { How, Local, RankSchedule, Receive, Send, Step } from './types.ts'

/** Where a part of a smaller schedule stands in the whole. */
export interface Placement {
  /** Its step 0 is this step of the whole. */
  readonly at: number
  /** Rank in the whole of each of its ranks; absent: the same. */
  readonly ranks?: (rank: number) => number
  /** Chunks of the whole that make up each of its chunks, ascending; absent: the same. */
  readonly chunks?: (chunk: number) => readonly number[]
}

export interface Draft {
  /** A slot that holds this rank's own contribution to `chunk` at the start. */
  input(chunk: number): number
  /** An empty slot of `chunk`. */
  slot(chunk: number): number
  /** From now on `slot` holds this rank's value of its chunk. */
  hold(slot: number): void
  /** The slot that holds this rank's value of `chunk`. */
  held(chunk: number): number
  send(step: number, to: number, slots: readonly number[]): void
  receive(step: number, from: number, slots: readonly number[], how: How): void
  local(step: number, from: number, slot: number, how: How): void
  /** Appends a finished part: it starts from the values held for its chunks and leaves its results held. */
  embed(part: RankSchedule, placement: Placement): void
  /** The part: `steps` steps whose results are the values held now, or the given slots. */
  finish(steps: number, output?: readonly number[]): RankSchedule
}

interface DraftStep {
  readonly sends: Map<number, number[]>
  readonly receives: Receive[]
  readonly locals: Local[]
}

/** A step in which a rank does nothing; long pipelines have thousands of them. */
const idle: Step = Object.freeze({ sends: [], receives: [], locals: [] })

export function createDraft(rank: number): Draft {
  const slots: number[] = []
  const input: number[] = []
  const steps = new Map<number, DraftStep>()
  const holding = new Map<number, number>()
  /** Slots of a chunk whose values are of no more use. */
  const free = new Map<number, number[]>()

  const at = (step: number): DraftStep => {
    let found = steps.get(step)
    if (!found) steps.set(step, (found = { sends: new Map(), receives: [], locals: [] }))
    return found
  }

  const slot = (chunk: number) => free.get(chunk)?.pop() ?? slots.push(chunk) - 1

  const release = (used: number) => {
    const chunk = slots[used]!
    const list = free.get(chunk)
    if (list) list.push(used)
    else free.set(chunk, [used])
  }

  const draft: Draft = {
    input(chunk) {
      const made = slots.push(chunk) - 1
      input.push(made)
      holding.set(chunk, made)
      return made
    },

    slot,

    hold(made) {
      holding.set(slots[made]!, made)
    },

    held(chunk) {
      const found = holding.get(chunk)
      assert(found !== undefined, `rank ${rank} holds nothing of chunk ${chunk}`)
      return found
    },

    send(step, to, sent) {
      if (sent.length === 0) return
      const { sends } = at(step)
      const message = sends.get(to)
      if (message) for (const own of sent) message.push(own)
      else sends.set(to, [...sent])
    },

    receive(step, from, received, how) {
      if (received.length > 0) at(step).receives.push({ from, slots: received, how })
    },

    local(step, from, target, how) {
      at(step).locals.push({ from, slot: target, how })
    },

    embed(part, placement) {
      const ranks = placement.ranks ?? ((peer) => peer)
      const chunks = placement.chunks ?? ((chunk) => [chunk])
      const place: number[][] = []
      const taken = new Set<number>()
      for (const own of part.input) {
        place[own] = chunks(part.slots[own]!).map((chunk) => {
          const held = draft.held(chunk)
          // A part may start from several copies of one contribution; the first is the value itself.
          if (!taken.has(held)) {
            taken.add(held)
            return held
          }
          const copy = slot(chunk)
          if (placement.at === 0) input.push(copy)
          else draft.local(placement.at - 1, held, copy, 'store')
          return copy
        })
      }
      for (const [own, chunk] of part.slots.entries()) place[own] ??= chunks(chunk).map(slot)
      const placed = (list: readonly number[]) => {
        const all: number[] = []
        for (const own of list) for (const placedSlot of place[own]!) all.push(placedSlot)
        return all
      }

      for (const [index, { sends, receives, locals }] of part.steps.entries()) {
        const step = placement.at + index
        for (const { to, slots: sent } of sends) draft.send(step, ranks(to), placed(sent))
        for (const { from, slots: received, how } of receives) {
          draft.receive(step, ranks(from), placed(received), how)
        }
        for (const { from, slot: target, how } of locals) {
          for (const [piece, source] of place[from]!.entries()) {
            draft.local(step, source, place[target]![piece]!, how)
          }
        }
      }

      const results = new Set(placed(part.output))
      for (const used of placed([...place.keys()])) {
        if (results.has(used)) continue
        if (holding.get(slots[used]!) === used) holding.delete(slots[used]!)
        release(used)
      }
      for (const result of results) draft.hold(result)
    },

    finish(count, output) {
      const scratch = new Map<number, number[]>()
      /** The n-th scratch slot that a step takes for a chunk is the n-th of every other step too. */
      const scratchOfStep = () => {
        const taken = new Map<number, number>()
        return (target: number) => {
          const chunk = slots[target]!
          const index = taken.get(chunk) ?? 0
          taken.set(chunk, index + 1)
          const list = scratch.get(chunk) ?? []
          scratch.set(chunk, list)
          return (list[index] ??= slots.push(chunk) - 1)
        }
      }
      const done: Step[] = new Array(count).fill(idle)
      for (const [index, { sends, receives, locals }] of steps) {
        assert(index < count, `rank ${rank} has a step ${index} of ${count}`)
        const joined = joinReceives(receives, scratchOfStep())
        done[index] = {
          sends: [...sends].map(([to, message]): Send => ({ to, slots: message })),
          receives: joined.receives,
          locals: [...joined.locals, ...locals],
        }
      }
      return {
        rank,
        slots,
        input,
        steps: done,
        output: output ?? [...holding].sort(([a], [b]) => a - b).map(([, held]) => held),
      }
    },
  }
  return draft
}
