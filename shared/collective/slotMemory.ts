/**
 * Where the slots of one rank lie while its schedule is compiled, and what must be done before a slot may be read or written: a read needs the
 * last write, a write needs the last write and all reads since (of the same memory). The caller's input is only ever read.
 */
import { assert } from '../base/assert.ts'
import type { How, RankSchedule } from '../schedule/types.ts'
import type { NumericArray } from '../wire/dtype.ts'
import type { Action, Slots, Target } from './actions.ts'
import type { DataflowConfig } from './dataflow.ts'

type Config = Pick<DataflowConfig, 'part' | 'offsets' | 'dtype' | 'input' | 'result'>

export class SlotMemory implements Slots {
  /** With a codec: slots that hold what others decode when it is sent. */
  readonly projected = new Set<number>()
  readonly #config: Config
  readonly #places: Places
  /** Of its own, made when it is first written. */
  readonly #storage: (NumericArray | undefined)[] = []
  /** What a slot holds now, the last write, and the reads since. */
  readonly #value: (NumericArray | undefined)[] = []
  readonly #written: (Action | undefined)[] = []
  readonly #reads: (Action[] | undefined)[] = []

  constructor(config: Config) {
    this.#config = config
    const { part, input, result } = config
    const inputs = placeChunks(part, part.input, this)
    this.#places = placeChunks(part, part.output, this)
    assert(input.length === inputs.length, 'input has the length of the chunks that the rank contributes')
    assert(
      result.length === this.#places.length,
      'result has the length of the chunks that the rank ends with',
    )
    for (const slot of part.input) {
      const at = inputs.at[slot]!
      this.#value[slot] = pieceOf(input, at, this.lengthOf(slot))
    }
  }

  positionOf(slot: number): number {
    return this.#config.offsets[this.#config.part.slots[slot]!]!
  }

  lengthOf(slot: number): number {
    const { offsets, part } = this.#config
    const chunk = part.slots[slot]!
    return offsets[chunk + 1]! - offsets[chunk]!
  }

  read(action: Action, slot: number): NumericArray {
    const memory = this.#value[slot]
    assert(memory, `slot ${slot} holds nothing`)
    action.dependOn(this.#written[slot])
    // Reading the caller's input never stands in the way: it is not written.
    if (memory === this.#storage[slot]) (this.#reads[slot] ??= []).push(action)
    return memory
  }

  write(action: Action, slot: number, how: How): Target {
    const out = this.#storageOf(slot)
    const current = this.#value[slot]
    action.dependOn(this.#written[slot])
    const reads = this.#reads[slot]
    if (reads) for (const read of reads) action.dependOn(read)
    assert(how === 'store' || current, `slot ${slot} holds nothing to combine with`)
    this.#reads[slot] = undefined
    this.#written[slot] = action
    this.#value[slot] = out
    return { out, current: current ?? out }
  }

  noteWrite(slot: number, isProjected: boolean): void {
    if (isProjected) this.projected.add(slot)
    else if (this.projected.size > 0) this.projected.delete(slot)
  }

  /** A result that no step wrote is the input itself. */
  finish(): void {
    for (const slot of this.#config.part.output) {
      const value = this.#value[slot]
      if (value && value !== this.#storage[slot]) this.#storageOf(slot).set(value as never)
    }
  }

  #storageOf(slot: number): NumericArray {
    let memory = this.#storage[slot]
    if (!memory) {
      const at = this.#places.at[slot]
      const length = this.lengthOf(slot)
      memory = at === undefined ? this.#config.dtype.create(length) : pieceOf(this.#config.result, at, length)
      this.#storage[slot] = memory
    }
    return memory
  }
}

function pieceOf(array: NumericArray, at: number, length: number): NumericArray {
  return at === 0 && length === array.length ? array : array.subarray(at, at + length)
}

/** By slot: where it lies. */
interface Places {
  readonly at: readonly (number | undefined)[]
  readonly length: number
}

/** Where each of `slots` lies when their chunks are laid one after the other in chunk order; slots of one chunk share a place. */
function placeChunks(part: RankSchedule, slots: readonly number[], memory: SlotMemory): Places {
  const byChunk = slots.length > 1 ? [...slots].sort((a, b) => part.slots[a]! - part.slots[b]!) : slots
  const at: (number | undefined)[] = []
  let length = 0
  let previous: number | undefined
  for (const slot of byChunk) {
    const isSame = previous !== undefined && part.slots[previous] === part.slots[slot]
    at[slot] = isSame ? at[previous!] : length
    if (!isSame) length += memory.lengthOf(slot)
    previous = slot
  }
  return { at, length }
}
