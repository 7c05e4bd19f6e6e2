import { ScheduleError } from '../base/errors.ts'
import { type Contract, contractOf } from './collectives.ts'
import { createOperandTrees, type OperandTrees } from './operandTrees.ts'
import type { How, RankSchedule, Schedule } from './types.ts'

/** What the symbolic run has shown, besides that the schedule is right. */
export interface Verification {
  /** All ranks that end with a chunk have combined it by the same tree, up to x + y = y + x: the same bits. */
  readonly identical: boolean
  /** The operands of every result stand in rank order: right for operators that do not commute. */
  readonly ordered: boolean
  /** Every result is ((x0 + x1) + x2) + ...: the same bits as any other algorithm of which this is true. */
  readonly rankFold: boolean
  /** No contribution is counted twice: right for operators that are not idempotent. */
  readonly once: boolean
}

export interface VerifyOptions {
  /** The operator is idempotent (min, max, band, bor): a contribution may be counted more than once. */
  readonly idempotent?: boolean
}

const EMPTY = -1

/**
 * Runs the schedule on symbols and proves it: sends and receives pair up, no slot is used before it holds something,
 * and every rank ends with exactly the results that the collective promises, each contribution counted exactly once.
 * @throws ScheduleError naming rank, step and slot of the first fault.
 */
export function verifySchedule(schedule: Schedule, options: VerifyOptions = {}): Verification {
  const { size } = schedule
  const contract = contractOf(schedule)
  const trees = createOperandTrees(size)
  const repeats = options.idempotent === true || schedule.collective === 'barrier'
  if (schedule.ranks.length !== size)
    fail(0, -1, `the schedule is for ${size} ranks but has parts for ${schedule.ranks.length}`)
  const values = schedule.ranks.map((part, rank) => {
    checkPart(schedule, part, rank, contract)
    const own = new Int32Array(part.slots.length).fill(EMPTY)
    for (const slot of part.input) own[slot] = trees.leaf(rank)
    return own
  })

  const write = (part: RankSchedule, step: number, slot: number, value: number, how: How) => {
    const own = values[part.rank]!
    if (how === 'store') {
      own[slot] = value
      return
    }
    const before = own[slot]!
    if (before === EMPTY) fail(part.rank, step, `slot ${slot} is combined into, but holds nothing`)
    const tree = how === 'append' ? trees.combine(before, value) : trees.combine(value, before)
    if (!repeats && !trees.once(tree))
      fail(
        part.rank,
        step,
        `slot ${slot} would count the contribution of rank ${trees.shared(before, value)} twice`,
      )
    own[slot] = tree
  }

  const seen: Seen = { marks: [], list: 0 }
  for (let step = 0; step < schedule.steps; step++) {
    const messages = readSends(schedule, values, step, seen)
    for (const part of schedule.ranks) {
      const { receives, locals } = part.steps[step]!
      for (const receive of receives) {
        const key = receive.from * size + part.rank
        const message = messages.get(key)
        if (message === undefined)
          fail(part.rank, step, `waits for rank ${receive.from}, which sends nothing`)
        messages.delete(key)
        if (message.values.length !== receive.slots.length)
          fail(
            part.rank,
            step,
            `expects ${receive.slots.length} slots from rank ${receive.from}, which sends ${message.values.length}`,
          )
        const twice = repeated(receive.slots, seen)
        if (twice !== undefined)
          fail(part.rank, step, `receives twice into slot ${twice} from rank ${receive.from}`)
        for (let at = 0; at < receive.slots.length; at++) {
          const slot = receive.slots[at]!
          checkSlot(part, step, slot)
          const chunk = schedule.ranks[receive.from]!.slots[message.slots[at]!]
          if (part.slots[slot] !== chunk)
            fail(
              part.rank,
              step,
              `slot ${slot} is for chunk ${part.slots[slot]}, but rank ${receive.from} sends chunk ${chunk}`,
            )
          write(part, step, slot, message.values[at]!, receive.how)
        }
      }
      for (const local of locals) {
        checkSlot(part, step, local.from)
        checkSlot(part, step, local.slot)
        if (part.slots[local.from] !== part.slots[local.slot])
          fail(part.rank, step, `slots ${local.from} and ${local.slot} are of different chunks`)
        const value = values[part.rank]![local.from]!
        if (value === EMPTY) fail(part.rank, step, `slot ${local.from} is read, but holds nothing`)
        write(part, step, local.slot, value, local.how)
      }
    }
    for (const key of messages.keys())
      fail(key % size, step, `does not receive what rank ${Math.floor(key / size)} sends`)
  }
  return judge(schedule, contract, trees, values)
}

interface Message {
  /** Of the sender. */
  readonly slots: readonly number[]
  readonly values: Int32Array
}

function readSends(
  schedule: Schedule,
  values: readonly Int32Array[],
  step: number,
  seen: Seen,
): Map<number, Message> {
  const { size } = schedule
  const messages = new Map<number, Message>()
  for (const part of schedule.ranks) {
    for (const { to, slots } of part.steps[step]!.sends) {
      if (!Number.isInteger(to) || to < 0 || to >= size || to === part.rank)
        fail(part.rank, step, `cannot send to rank ${to}`)
      if (slots.length === 0) fail(part.rank, step, `sends an empty message to rank ${to}`)
      if (messages.has(part.rank * size + to)) fail(part.rank, step, `sends two messages to rank ${to}`)
      const twice = repeated(slots, seen)
      if (twice !== undefined) fail(part.rank, step, `sends slot ${twice} twice to rank ${to}`)
      const own = values[part.rank]!
      const message = { slots, values: new Int32Array(slots.length) }
      for (let at = 0; at < slots.length; at++) {
        const slot = slots[at]!
        checkSlot(part, step, slot)
        if (own[slot] === EMPTY)
          fail(part.rank, step, `slot ${slot} is sent to rank ${to}, but holds nothing`)
        message.values[at] = own[slot]!
      }
      messages.set(part.rank * size + to, message)
    }
  }
  return messages
}

function checkPart(schedule: Schedule, part: RankSchedule, rank: number, contract: Contract): void {
  if (part.rank !== rank) fail(rank, -1, `the part says rank ${part.rank}`)
  if (part.steps.length !== schedule.steps)
    fail(rank, -1, `has ${part.steps.length} steps, the schedule has ${schedule.steps}`)
  for (const [slot, chunk] of part.slots.entries())
    if (!Number.isInteger(chunk) || chunk < 0 || chunk >= schedule.chunks)
      fail(rank, -1, `slot ${slot} is for chunk ${chunk}, there are ${schedule.chunks} chunks`)
  for (const slot of part.input) {
    checkSlot(part, -1, slot)
    if (!contract.holds(rank, part.slots[slot]!))
      fail(rank, -1, `slot ${slot} is input, but the rank holds no contribution to chunk ${part.slots[slot]}`)
  }
  for (const slot of part.output) checkSlot(part, schedule.steps, slot)
}

function checkSlot(part: RankSchedule, step: number, slot: number): void {
  if (!Number.isInteger(slot) || slot < 0 || slot >= part.slots.length)
    fail(part.rank, step, `there is no slot ${slot}, the rank has ${part.slots.length}`)
}

/** Marks slots by the list that they were last seen in, so that one array serves all lists of a run. */
interface Seen {
  readonly marks: number[]
  list: number
}

/** A slot that is listed twice. */
function repeated(slots: readonly number[], seen: Seen): number | undefined {
  const list = ++seen.list
  for (const slot of slots) {
    if (seen.marks[slot] === list) return slot
    seen.marks[slot] = list
  }
  return undefined
}

function judge(
  schedule: Schedule,
  contract: Contract,
  trees: OperandTrees,
  values: readonly Int32Array[],
): Verification {
  const { steps, chunks } = schedule
  const canonical = new Int32Array(chunks).fill(EMPTY)
  const results = new Int32Array(chunks)
  const facts = { identical: true, ordered: true, rankFold: true, once: true }
  for (const part of schedule.ranks) {
    let last = -1
    for (const slot of part.output) {
      const chunk = part.slots[slot]!
      if (chunk <= last) fail(part.rank, steps, `the output has chunk ${chunk} after chunk ${last}`)
      if (!contract.needs(part.rank, chunk))
        fail(part.rank, steps, `the output has chunk ${chunk}, which is not for this rank`)
      last = chunk
      results[chunk] = results[chunk]! + 1
      const tree = values[part.rank]![slot]!
      if (tree === EMPTY) fail(part.rank, steps, `slot ${slot} is output, but holds nothing`)
      const source = contract.source(chunk)
      if (source === undefined && !trees.complete(tree))
        fail(part.rank, steps, `slot ${slot} lacks the contribution of rank ${trees.missing(tree)}`)
      if (source !== undefined && tree !== trees.leaf(source))
        fail(part.rank, steps, `slot ${slot} does not hold chunk ${chunk} of rank ${source}`)
      if (canonical[chunk] === EMPTY) canonical[chunk] = trees.canonical(tree)
      facts.identical &&= canonical[chunk] === trees.canonical(tree)
      facts.ordered &&= trees.ordered(tree)
      facts.rankFold &&= trees.ordered(tree) && trees.leftFold(tree)
      facts.once &&= trees.once(tree)
    }
  }
  const chunk = results.findIndex((count) => count !== contract.copies)
  if (chunk >= 0) {
    const lacking = schedule.ranks.find(
      ({ rank, slots, output }) =>
        contract.needs(rank, chunk) && !output.some((slot) => slots[slot] === chunk),
    )
    fail(lacking?.rank ?? 0, steps, `the output lacks chunk ${chunk}`)
  }
  return facts
}

function fail(rank: number, step: number, what: string): never {
  const where = step < 0 ? 'before the first step' : `step ${step}`
  throw new ScheduleError(`Rank ${rank}, ${where}: ${what}`, { rank, step })
}
