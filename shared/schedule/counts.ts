import type { Counts, RankSchedule, Schedule, ScheduleShape } from './types.ts'

/** Exact counts of one rank. */
export interface RankCounts {
  readonly rank: number
  readonly messages: number
  readonly chunksSent: number
  readonly chunksReceived: number
  readonly chunkCombines: number
  /** Ranks that it sends to or receives from. */
  readonly peers: number
  /** The same as fractions of the whole vector: for cuts that are not even these, and not the chunks, are the bytes. */
  readonly vectorSent: number
  readonly vectorReceived: number
  readonly vectorCombined: number
}

/** Width of chunk c as a fraction of the vector. */
export function chunkWidth(shape: ScheduleShape, chunk: number): number {
  const { cuts } = shape
  return cuts === undefined ? 1 / shape.chunks : (cuts[chunk + 1] ?? 1) - (cuts[chunk] ?? 0)
}

export function countRank(shape: ScheduleShape, part: RankSchedule): RankCounts {
  const width = (slot: number) => chunkWidth(shape, part.slots[slot]!)
  const peers = new Set<number>()
  const sent = { chunks: 0, vector: 0 }
  const received = { chunks: 0, vector: 0 }
  const combined = { chunks: 0, vector: 0 }
  const add = (to: { chunks: number; vector: number }, slots: readonly number[]) => {
    to.chunks += slots.length
    for (const slot of slots) to.vector += width(slot)
  }
  let messages = 0
  for (const step of part.steps) {
    messages += step.sends.length
    for (const send of step.sends) {
      peers.add(send.to)
      add(sent, send.slots)
    }
    for (const receive of step.receives) {
      peers.add(receive.from)
      add(received, receive.slots)
      if (receive.how !== 'store') add(combined, receive.slots)
    }
    for (const local of step.locals) if (local.how !== 'store') add(combined, [local.slot])
  }
  return {
    rank: part.rank,
    messages,
    chunksSent: sent.chunks,
    chunksReceived: received.chunks,
    chunkCombines: combined.chunks,
    peers: peers.size,
    vectorSent: sent.vector,
    vectorReceived: received.vector,
    vectorCombined: combined.vector,
  }
}

/** Exact counts of a schedule; each figure is that of the busiest rank. */
export function countSchedule(schedule: Schedule): Counts {
  let chunksSentPerRank = 0
  let chunkCombinesPerRank = 0
  let peersPerRank = 0
  for (const part of schedule.ranks) {
    const counts = countRank(schedule, part)
    chunksSentPerRank = Math.max(chunksSentPerRank, counts.chunksSent)
    chunkCombinesPerRank = Math.max(chunkCombinesPerRank, counts.chunkCombines)
    peersPerRank = Math.max(peersPerRank, counts.peers)
  }
  return { steps: schedule.steps, chunksSentPerRank, chunkCombinesPerRank, peersPerRank }
}
