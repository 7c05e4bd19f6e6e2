/**
 * A reduction step of one rank in a schedule of the butterfly family.
 *
 * Operands are folded from left to right in the order of the ranks that they come from, the rank's own value in its
 * place among them. So the mesh (k = P - 1) folds in rank order, and the XOR group keeps rank order with every k.
 */
import type { Family, Merge, Stage } from './family.ts'
import { isLive, placementsOf } from './placements.ts'
import { SCRATCH, type SlotTable, sortByChunk } from './slotTable.ts'
import type { How, Local, Receive, Send } from './types.ts'

export interface WrittenStep {
  readonly sends: readonly Send[]
  readonly receives: readonly Receive[]
  readonly locals: Local[]
}

export interface ReduceContext {
  readonly family: Family
  readonly rank: number
  readonly table: SlotTable
  readonly stage: Stage
  readonly step: number
  /** Locals that run before this step. */
  readonly before: Local[]
}

/** A vector that arrives, at its placement after the move. */
interface Value {
  readonly kind: number
  readonly p: number
  /** Where it is combined: more than once when q* and q' both need it. */
  readonly targets: Target[]
}

interface Target {
  readonly p: number
  readonly merge: Merge
  slot: number
  readonly operands: Value[]
  /** How many operands stand before the own value. */
  readonly left: number
}

interface Message {
  readonly from: number
  readonly values: Value[]
}

export function reduceStep(context: ReduceContext): WrittenStep {
  const { family, rank, table, stage } = context
  const { group } = family
  const { targets, messages } = listTargets(context)
  const sends = stage.blocks.map(({ shift }, block) => {
    const slots = messages[block]!.values.map(({ kind, p }) => table.find(kind, group.add(p, shift)))
    return { to: group.add(rank, group.negate(shift)), slots: sortByChunk(family, table, slots) }
  })
  placeTargets(context, targets)
  const incoming = messages.sort((a, b) => a.from - b.from)
  const isDirect = incoming.every(({ from, values }) =>
    values.every(
      (value) =>
        value.targets.length === 1 && howDirect(value, from < rank) === howDirect(values[0]!, from < rank),
    ),
  )
  return { sends, ...(isDirect ? receiveDirectly : receiveAside)(context, targets, incoming) }
}

function listTargets({ family, rank, table, stage }: ReduceContext) {
  const { size } = family.group
  const messages = stage.blocks.map(
    ({ shift }): Message => ({ from: family.group.add(rank, shift), values: [] }),
  )
  /** Without copies every vector has its own placement, and no value can be met twice. */
  const known = stage.merges.length > 1 && family.copies > 1 ? new Map<number, Value>() : undefined
  const targets: Target[] = []
  for (const merge of stage.merges) {
    const operands = [...merge.operands].sort((a, b) => messages[a.block]!.from - messages[b.block]!.from)
    const left = operands.filter(({ block }) => messages[block]!.from < rank).length
    for (const p of placementsOf(family, stage.after, merge.spans)) {
      const slot = table.find(merge.base, p)
      const target: Target = { p, merge, slot, operands: [], left }
      targets.push(target)
      for (const { block, kind } of operands) {
        const key = (kind * messages.length + block) * size + p
        let value = known?.get(key)
        if (value === undefined) {
          value = { kind, p, targets: [target] }
          messages[block]!.values.push(value)
          known?.set(key, value)
        } else value.targets.push(target)
        target.operands.push(value)
      }
    }
  }
  return { targets, messages }
}

/** A combine happens in place, unless its operand is needed for something else too: then in a copy made before. */
function placeTargets(
  { family, table, stage, step, before }: ReduceContext,
  targets: readonly Target[],
): void {
  const others = new Map<number, number>()
  if (family.copies > 1) for (const { slot } of targets) others.set(slot, (others.get(slot) ?? -1) + 1)
  for (const target of targets) {
    const { p, merge, slot } = target
    const left = others.get(slot) ?? 0
    if (left > 0 || (merge.parts && isLive(family, stage.after, merge.base, p))) {
      others.set(slot, left - 1)
      target.slot = table.take(p, merge.kind, step, [stage.before, stage.after])
      before.push({ from: slot, slot: target.slot, how: 'store' })
    } else table.write(slot, merge.kind, step)
  }
}

function howDirect(value: Value, isLeft: boolean): How {
  const target = value.targets[0]!
  if (isLeft) return target.left === 1 ? 'prepend' : value === target.operands[0] ? 'store' : 'append'
  return target.left > 1 ? 'store' : 'append'
}

/**
 * Values are combined as they are received. Where several stand before the own value, they are folded aside first, and
 * those after it have to wait aside.
 */
function receiveDirectly(context: ReduceContext, targets: readonly Target[], incoming: readonly Message[]) {
  const { family, rank, table } = context
  const scratch = scratchOf(context)
  const folded = new Map<Target, number>()
  const waiting = new Map<Value, number>()
  const locals: Local[] = []
  for (const target of targets) {
    if (target.left < 2) continue
    const fold = scratch(target.p)
    folded.set(target, fold)
    locals.push({ from: fold, slot: target.slot, how: 'prepend' })
    for (const value of target.operands.slice(target.left)) {
      const slot = scratch(target.p)
      waiting.set(value, slot)
      locals.push({ from: slot, slot: target.slot, how: 'append' })
    }
  }
  const receives = incoming.map(({ from, values }): Receive => {
    const slots = values.map((value) => {
      const target = value.targets[0]!
      return waiting.get(value) ?? (from < rank ? folded.get(target) : undefined) ?? target.slot
    })
    return { from, slots: sortByChunk(family, table, slots), how: howDirect(values[0]!, from < rank) }
  })
  return { receives, locals }
}

/** Values are received aside and combined from there: one of them may be an operand of several combines. */
function receiveAside(context: ReduceContext, targets: readonly Target[], incoming: readonly Message[]) {
  const { family, table } = context
  const scratch = scratchOf(context)
  const aside = new Map<Value, number>()
  const receives = incoming.map(({ from, values }): Receive => {
    const slots = values.map((value) => {
      const slot = scratch(value.p)
      aside.set(value, slot)
      return slot
    })
    return { from, slots: sortByChunk(family, table, slots), how: 'store' }
  })
  const locals: Local[] = []
  for (const { p, slot, operands, left } of targets) {
    const from = operands.map((value) => aside.get(value)!)
    if (left > 0) {
      let fold = from[0]!
      if (left > 1 && operands[0]!.targets.length > 1) {
        fold = scratch(p)
        locals.push({ from: from[0]!, slot: fold, how: 'store' })
      }
      for (const next of from.slice(1, left)) locals.push({ from: next, slot: fold, how: 'append' })
      locals.push({ from: fold, slot, how: 'prepend' })
    }
    for (const next of from.slice(left)) locals.push({ from: next, slot, how: 'append' })
  }
  return { receives, locals }
}

/** A slot for a value that this step alone uses: one that nothing later needs. The sends have read it before. */
function scratchOf({ table, stage, step }: ReduceContext): (p: number) => number {
  return (p) => table.take(p, SCRATCH, step, [stage.after])
}
