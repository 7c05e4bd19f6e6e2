/** One rank's part in a schedule of the butterfly family, in O(its sends). */
import { assert } from '../base/assert.ts'
import type { Family, Stage } from './family.ts'
import { expand, placementsOf } from './placements.ts'
import { reduceStep, type WrittenStep } from './reduceStep.ts'
import { createSlotTable, type SlotTable, sortByChunk } from './slotTable.ts'
import type { Local, RankSchedule } from './types.ts'

/** Which half of the allreduce: the reduction alone is a reduce-scatter, the distribution alone an allgather. */
export type Phase = 'both' | 'reduce' | 'distribute'

export function familySteps(family: Family, phase: Phase = 'both'): number {
  const { length } = family.stages
  return (phase === 'distribute' ? 0 : length) + (phase === 'reduce' ? 0 : length - family.removed)
}

/** The part of `rank`. Slot p < P is for placement p: chunk rank - p; more slots follow where kinds part. */
export function familyPart(family: Family, rank: number, phase: Phase = 'both'): RankSchedule {
  const { group, stages, removed } = family
  assert(phase === 'both' || removed === 0, 'half of an allreduce with removed steps is no collective')
  const table = createSlotTable(family, rank)
  const steps: WrittenStep[] = []
  /** Copies of the rank's own contribution, for the first step. */
  const copies: Local[] = []
  const held = [...Array(group.size).keys()]
  const last = stages.at(-1)?.after
  if (phase !== 'distribute' && last !== undefined) {
    for (const stage of stages) {
      const step = steps.length
      steps.push(reduceStep({ family, rank, table, stage, step, before: steps[step - 1]?.locals ?? copies }))
    }
    for (const p of placementsOf(family, last, last.runs)) held[p] = table.find(last.runs[0]!.kind, p)
  }
  if (phase !== 'reduce')
    for (const stage of stages.slice(0, stages.length - removed).reverse())
      steps.push(distributeStep(family, rank, table, stage, held))
  const own = [...Array(group.size).keys()]
  const input = phase === 'distribute' ? [0] : own.concat(copies.map((copy) => copy.slot))
  const output = new Array<number>(group.size)
  for (const p of own) output[table.chunks[p]!] = held[p]!
  return { rank, slots: table.chunks, input, steps, output: phase === 'reduce' ? [held[0]!] : output }
}

/** The moves of the stage backwards, with copies; or the same way, by placements with the sign turned. */
function distributeStep(
  family: Family,
  rank: number,
  table: SlotTable,
  { blocks, after }: Stage,
  held: readonly number[],
): WrittenStep {
  const { group, oneWay } = family
  const turn = (p: number) => (oneWay ? group.negate(p) : p)
  const moves = blocks.map(({ lo, hi, shift }) => {
    const landing = expand(family, after.axis, [{ lo, hi }], after.spacing)
    return {
      by: turn(shift),
      sent: landing.map((p) => held[turn(p)]!),
      received: landing.map((p) => turn(group.add(shift, p))),
    }
  })
  return {
    sends: moves.map(({ by, sent }) => ({
      to: group.add(rank, by),
      slots: sortByChunk(family, table, sent),
    })),
    receives: moves.map(({ by, received }) => ({
      from: group.add(rank, group.negate(by)),
      slots: sortByChunk(family, table, received),
      how: 'store',
    })),
    locals: [],
  }
}
