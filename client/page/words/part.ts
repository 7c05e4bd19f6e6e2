/** What one rank does in a schedule, step by step, in sentences. */
import type { Schedule, Step } from '../../../shared/schedule/types.ts'
import { list } from '../format.ts'
import { formatBytes, formatList } from '../stage/format.ts'

export interface StepWords {
  readonly step: number
  readonly sends: readonly string[]
  readonly receives: readonly string[]
}

/** One entry for each step of the rank. `nameOf` is how people call a rank: "Bo (rank 5)". */
export function partWords(
  schedule: Schedule,
  rank: number,
  bytes: number,
  nameOf: (rank: number) => string,
): StepWords[] {
  const part = schedule.ranks[rank]
  if (!part) return []
  const size = (slots: readonly number[]) => formatBytes(Math.round((bytes * slots.length) / schedule.chunks))
  const chunks = (slots: readonly number[]) => {
    const numbers = slots.map((slot) => part.slots[slot]!)
    return `${numbers.length === 1 ? 'chunk' : 'chunks'} ${formatList([...new Set(numbers)])}`
  }
  return part.steps.map(({ sends, receives }: Step, step) => ({
    step,
    sends: sends.map(({ to, slots }) => `${chunks(slots)} to ${nameOf(to)}, ${size(slots)}`),
    receives: receives.map(
      ({ from, slots, how }) =>
        `${chunks(slots)} from ${nameOf(from)}, ${how === 'store' ? 'keeping them' : 'adding them'}`,
    ),
  }))
}

/** "Step 2 of 5: sending chunks 3, 4 to Bo (rank 5), 300 KiB; receiving chunks 6, 0 from Cem (rank 1), adding them." */
export function nowWords(words: readonly StepWords[], after: number): string {
  const now = words[after]
  if (!now) return words.length === 0 ? 'Nothing to send: this peer is alone.' : 'All chunks are complete.'
  const parts = [
    ...(now.sends.length > 0 ? [`sending ${list(now.sends)}`] : []),
    ...(now.receives.length > 0 ? [`receiving ${list(now.receives)}`] : []),
  ]
  return `Step ${now.step + 1} of ${words.length}: ${parts.length > 0 ? parts.join('; ') : 'nothing to do'}.`
}
