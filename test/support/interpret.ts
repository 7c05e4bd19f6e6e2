import type { How, Schedule } from '../../shared/schedule/types.ts'

/**
 * The reference interpreter of the schedule form (docs/schedule-format.md): all ranks in one loop, values of any type.
 * Returns for each rank the values of its output slots.
 */
export function interpret<T>(
  schedule: Schedule,
  contribution: (rank: number, chunk: number) => T,
  combine: (left: T, right: T) => T,
): T[][] {
  const values = schedule.ranks.map((part) => {
    const own = new Map<number, T>()
    for (const slot of part.input) own.set(slot, contribution(part.rank, part.slots[slot]!))
    return own
  })
  const read = (rank: number, slot: number): T => {
    if (!values[rank]!.has(slot)) throw new Error(`rank ${rank} reads slot ${slot}, which holds nothing`)
    return values[rank]!.get(slot) as T
  }
  const write = (rank: number, slot: number, value: T, how: How) => {
    const result =
      how === 'store'
        ? value
        : how === 'append'
          ? combine(read(rank, slot), value)
          : combine(value, read(rank, slot))
    values[rank]!.set(slot, result)
  }
  for (let step = 0; step < schedule.steps; step++) {
    const messages = new Map<string, T[]>()
    for (const { rank, steps } of schedule.ranks)
      for (const { to, slots } of steps[step]!.sends)
        messages.set(
          `${rank}>${to}`,
          slots.map((slot) => read(rank, slot)),
        )
    for (const { rank, steps } of schedule.ranks) {
      for (const { from, slots, how } of steps[step]!.receives)
        for (const [at, slot] of slots.entries())
          write(rank, slot, messages.get(`${from}>${rank}`)![at]!, how)
      for (const { from, slot, how } of steps[step]!.locals) write(rank, slot, read(rank, from), how)
    }
  }
  return schedule.ranks.map(({ rank, output }) => output.map((slot) => read(rank, slot)))
}
