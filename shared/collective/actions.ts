/**
 * What a rank does in an op, as actions on slots. Each has a watermark `done` (elements finished, a prefix) and may go on up to the smallest
 * watermark of the actions that it depends on. Classes of the module and not closures of an op: an op of a few hundred bytes
 * costs little more than what it sends.
 */
import type { How } from '../schedule/types.ts'
import type { DTypeInfo, NumericArray } from '../wire/dtype.ts'
import type { Combine } from '../wire/kernels.ts'
import type { Coding } from './coding.ts'
import type { OutgoingMessage } from './dataflow.ts'

/** Where an action writes, and what stands there (maybe elsewhere: the caller's input). */
export interface Target {
  readonly out: NumericArray
  readonly current: NumericArray
}

/** What a slot is to an action that is about to be made: its memory, with the action put after all that it must wait for. */
export interface Slots {
  lengthOf(slot: number): number
  /** Of its first element in the vector. */
  positionOf(slot: number): number
  read(action: Action, slot: number): NumericArray
  /** Makes `action` the next writer of `slot`: returns where to write and what stands there. */
  write(action: Action, slot: number, how: How): Target
}

/** What the actions of one op share. */
export class Flow {
  readonly dtype: DTypeInfo
  readonly combine: Combine
  readonly coding: Coding | undefined
  /** What elements are called as they travel. */
  readonly wireName: string
  /** Of elements before they are encoded. */
  readonly segmentBytes: number
  readonly onSendable: (message: OutgoingMessage) => void
  /** Things that are to be finished: messages, and actions that are no sends; and of each step. */
  remaining = 0
  stepsDone = 0
  readonly #remainingInStep: Int32Array
  readonly #wakes: Action[] = []
  #isRunning = false

  constructor(config: {
    dtype: DTypeInfo
    combine: Combine
    coding: Coding | undefined
    wireName: string
    segmentBytes: number
    steps: number
    onSendable(message: OutgoingMessage): void
  }) {
    this.dtype = config.dtype
    this.combine = config.combine
    this.coding = config.coding
    this.wireName = config.wireName
    this.segmentBytes = config.segmentBytes
    this.onSendable = config.onSendable
    this.#remainingInStep = new Int32Array(config.steps)
  }

  begin(step: number): void {
    this.remaining++
    this.#remainingInStep[step]!++
  }

  finish(step: number): void {
    const left = this.#remainingInStep
    this.remaining--
    left[step]!--
    while (this.stepsDone < left.length && left[this.stepsDone] === 0) this.stepsDone++
  }

  wake(action: Action): void {
    this.#wakes.push(action)
  }

  progress(action: Action, elements: number): void {
    action.done += elements
    for (const next of action.before) this.#wakes.push(next)
  }

  run(): void {
    // What an action sends may call back before it returns: the loop below goes on with what that wakes.
    if (this.#isRunning) return
    this.#isRunning = true
    for (let action = this.#wakes.pop(); action; action = this.#wakes.pop()) action.advance(action.limit)
    this.#isRunning = false
  }

  apply({ out, current }: Target, how: How, at: number, operand: NumericArray): void {
    const end = at + operand.length
    const isWhole = at === 0 && end === out.length
    const into = isWhole ? out : out.subarray(at, end)
    if (how === 'store') {
      into.set(operand as never)
      return
    }
    const held = current === out ? into : current.subarray(at, end)
    if (how === 'append') this.combine(into, held, operand)
    else this.combine(into, operand, held)
  }
}

/** Most actions of a small op wait for nothing and nobody waits for them. */
const none: readonly Action[] = []

export abstract class Action {
  readonly length: number
  done = 0
  #after: Action[] | undefined
  #before: Action[] | undefined

  constructor(length: number) {
    this.length = length
  }

  /** Actions that wait for this one. */
  get before(): readonly Action[] {
    return this.#before ?? none
  }

  /** How far the actions that this one waits for let it go. */
  get limit(): number {
    let limit = this.length
    for (const { done } of this.#after ?? none) if (done < limit) limit = done
    return limit
  }

  dependOn(earlier: Action | undefined): void {
    if (!earlier || earlier === this) return
    ;(this.#after ??= []).push(earlier)
    ;(earlier.#before ??= []).push(this)
  }

  /** Goes on as far as `limit` allows. */
  abstract advance(limit: number): void
}

/** An action that its step waits for. */
abstract class Work extends Action {
  readonly flow: Flow
  readonly #step: number

  constructor(flow: Flow, length: number, step: number) {
    super(length)
    this.flow = flow
    this.#step = step
    if (length > 0) flow.begin(step)
  }

  progress(elements: number): void {
    this.flow.progress(this, elements)
    if (this.done === this.length) this.flow.finish(this.#step)
  }
}

/** Combines what comes for one slot. */
export class Receive extends Work {
  readonly #how: How
  readonly #target: Target
  /** Operands that have arrived and are not applied yet, in order. */
  readonly #pending: NumericArray[] = []

  constructor(flow: Flow, slots: Slots, slot: number, how: How, step: number) {
    super(flow, slots.lengthOf(slot), step)
    this.#how = how
    this.#target = slots.write(this, slot, how)
  }

  arrived(operand: NumericArray): void {
    this.#pending.push(operand)
    this.flow.wake(this)
  }

  advance(limit: number): void {
    const pending = this.#pending
    while (pending.length > 0 && this.done < limit) {
      const operand = pending[0]!
      const elements = Math.min(operand.length, limit - this.done)
      const isWhole = elements === operand.length
      this.flow.apply(this.#target, this.#how, this.done, isWhole ? operand : operand.subarray(0, elements))
      if (isWhole) pending.shift()
      else pending[0] = operand.subarray(elements)
      this.progress(elements)
    }
  }
}

/** Moves or combines inside the rank. */
export class Move extends Work {
  readonly #how: How
  readonly #operand: NumericArray
  readonly #target: Target

  constructor(flow: Flow, slots: Slots, from: number, slot: number, how: How, step: number) {
    super(flow, slots.lengthOf(slot), step)
    this.#how = how
    this.#operand = slots.read(this, from)
    this.#target = slots.write(this, slot, how)
  }

  advance(limit: number): void {
    if (limit <= this.done) return
    this.flow.apply(this.#target, this.#how, this.done, this.#operand.subarray(this.done, limit))
    this.progress(limit - this.done)
  }
}

/** Replaces what a slot holds by what others decode when it is sent. */
export class Projection extends Work {
  readonly #coding: Coding
  /** Of the slot's first element in the vector. */
  readonly #position: number
  readonly #target: Target

  constructor(flow: Flow, slots: Slots, coding: Coding, slot: number, step: number) {
    super(flow, slots.lengthOf(slot), step)
    this.#coding = coding
    this.#position = slots.positionOf(slot)
    this.#target = slots.write(this, slot, 'append')
  }

  advance(limit: number): void {
    const { done } = this
    if (limit <= done) return
    const { current, out } = this.#target
    this.#coding.project(current.subarray(done, limit), this.#position + done, out.subarray(done, limit))
    this.progress(limit - done)
  }
}
