import { assert } from '../base/assert.ts'
import type { Family, Window } from './family.ts'
import { isLive } from './placements.ts'

/** Which slot of a rank holds which value while its part of a butterfly schedule is written. */
export interface SlotTable {
  /** Chunk of each slot. Slot p < P is the first one of placement p. */
  readonly chunks: readonly number[]
  /** The slot that holds the value of this kind at placement p. */
  find(kind: number, p: number): number
  /** Says that `slot`, written in this step, now holds a value of this kind. */
  write(slot: number, kind: number, step: number): void
  /** A slot of placement p that this step does not write and whose value none of the windows needs; made if need be. */
  take(p: number, kind: number, step: number, needed: readonly Window[]): number
}

/** The kind of a value of no further use. */
export const SCRATCH = -1

export function createSlotTable(family: Family, rank: number): SlotTable {
  const { group, relabel } = family
  const { size } = group
  const chunks = new Array<number>(size)
  for (let p = 0; p < size; p++) {
    const chunk = group.add(rank, group.negate(p))
    chunks[p] = relabel === undefined ? chunk : relabel(chunk)
  }
  const kinds = new Array<number>(size).fill(0)
  const written = new Array<number>(size).fill(-1)
  /** Slots of a placement beyond its first; those before `next` were not free when `step` asked last. */
  const more = new Map<number, { slots: number[]; step: number; next: number }>()

  const table: SlotTable = {
    chunks,
    find(kind, p) {
      if (kinds[p] === kind) return p
      const found = more.get(p)?.slots.find((slot) => kinds[slot] === kind)
      assert(found !== undefined, `rank ${rank} has no value of kind ${kind} at placement ${p}`)
      return found
    },
    write(slot, kind, step) {
      kinds[slot] = kind
      written[slot] = step
    },
    take(p, kind, step, needed) {
      const isFree = (slot: number) =>
        written[slot] !== step && !needed.some((window) => isLive(family, window, kinds[slot]!, p))
      let slot = isFree(p) ? p : undefined
      if (slot === undefined) {
        let list = more.get(p)
        if (list === undefined) more.set(p, (list = { slots: [], step, next: 0 }))
        if (list.step !== step) Object.assign(list, { step, next: 0 })
        while (list.next < list.slots.length && !isFree(list.slots[list.next]!)) list.next++
        if (list.next === list.slots.length) list.slots.push(chunks.push(chunks[p]!) - 1)
        slot = list.slots[list.next]!
      }
      table.write(slot, kind, step)
      return slot
    },
  }
  return table
}

/** With renumbered chunks the slots of a message are put in chunk order, so that it covers ranges of the vector. */
export function sortByChunk(family: Family, table: SlotTable, slots: number[]): readonly number[] {
  return family.relabel === undefined ? slots : slots.sort((a, b) => table.chunks[a]! - table.chunks[b]!)
}
