/** An interpreter of schedules, written from docs/schedule-format.md alone: it shares no code with the project. */

type How = 'store' | 'append' | 'prepend'

interface Step {
  sends: { to: number; slots: number[] }[]
  receives: { from: number; slots: number[]; how: How }[]
  locals: { from: number; slot: number; how: How }[]
}

export interface Part {
  rank: number
  slots: number[]
  input: number[]
  steps: Step[]
  output: number[]
}

export interface Schedule {
  format: string
  version: number
  collective: string
  size: number
  steps: number
  chunks: number
  cuts?: number[]
  root?: number
  ranks: Part[]
}

/** The entry, or an error: reading a slot that was never written is a mistake. */
function at<T>(list: (T | undefined)[], index: number): T {
  return list[index] ?? fail(`nothing at ${index}`)
}

function fail(message: string): never {
  throw new Error(message)
}

/**
 * What every rank has in the end. The input of a rank is the elements of the chunks that it has at the start, in chunk
 * order: all of the vector, its own block of it, or nothing.
 */
export function interpret<T>(schedule: Schedule, inputs: T[][], add: (a: T, b: T) => T): T[][] {
  const { format, version, collective, chunks, cuts, root = 0, ranks } = schedule
  if (format !== 'papilio-schedule' || version !== 1) fail(`cannot read ${format} ${version}`)
  const inBlocks = ['allgather', 'gather', 'alltoall'].includes(collective)
  const n = inBlocks ? inputs.flat().length : at(inputs, root).length
  const bound = (c: number) => Math.floor(cuts ? at(cuts, c) * n + 0.5 : (c * n) / chunks)

  const memories = ranks.map(({ rank, slots, input }) => {
    const memory: T[][] = []
    let used = 0
    for (let c = 0; c < chunks; c++) {
      const mine = input.filter((slot) => slots[slot] === c)
      const width = mine.length > 0 ? bound(c + 1) - bound(c) : 0
      for (const slot of mine) memory[slot] = at(inputs, rank).slice(used, used + width)
      used += width
    }
    return used === at(inputs, rank).length ? memory : fail(`rank ${rank} has to put in ${used} elements`)
  })
  const join = (a: T[], b: T[]) => a.map((x, i) => add(x, at(b, i)))
  const write = (memory: T[][], slot: number, value: T[], how: How) => {
    if (how === 'store') memory[slot] = value
    else memory[slot] = how === 'append' ? join(at(memory, slot), value) : join(value, at(memory, slot))
  }

  for (let step = 0; step < schedule.steps; step++) {
    const sent = new Map<string, T[][]>()
    for (const { rank, steps } of ranks)
      for (const { to, slots } of at(steps, step).sends) {
        const values = slots.map((slot) => at(at(memories, rank), slot))
        sent.set(`${rank} to ${to}`, values)
      }
    for (const { rank, steps } of ranks) {
      const memory = at(memories, rank)
      for (const { from, slots, how } of at(steps, step).receives)
        for (const [i, slot] of slots.entries())
          write(memory, slot, at(sent.get(`${from} to ${rank}`) ?? [], i), how)
      for (const { from, slot, how } of at(steps, step).locals) write(memory, slot, at(memory, from), how)
    }
  }
  return ranks.map(({ rank, output }) => output.flatMap((slot) => at(at(memories, rank), slot)))
}
