/** How a finished result reaches the members that lost a peer before they had it: rank 0 sends it to each of the others. */
import type { RankSchedule } from '../schedule/types.ts'

export function adoptionPart(size: number, rank: number): RankSchedule {
  if (rank === 0) {
    const sends = Array.from({ length: size - 1 }, (_, i) => ({ to: i + 1, slots: [0] }))
    return { rank, slots: [0], input: [0], steps: [{ sends, receives: [], locals: [] }], output: [] }
  }
  const receives = [{ from: 0, slots: [0], how: 'store' as const }]
  return { rank, slots: [0], input: [], steps: [{ sends: [], receives, locals: [] }], output: [0] }
}
