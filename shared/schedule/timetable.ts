import type { RankSchedule, ScheduleShape, Step } from './types.ts'

/** Chunk numbers in words: 0-3, 7. */
export function formatChunks(chunks: readonly number[]): string {
  const sorted = [...chunks].sort((a, b) => a - b)
  const ranges: string[] = []
  for (let at = 0; at < sorted.length; ) {
    let end = at
    while (sorted[end + 1] === sorted[end]! + 1) end++
    ranges.push(end > at ? `${sorted[at]}-${sorted[end]}` : `${sorted[at]}`)
    at = end + 1
  }
  return ranges.join(',')
}

/** What a rank does in a step: `>4:1-3 +` sends chunks 1 to 3 to rank 4 and combines what it gets. */
function formatCell(part: RankSchedule, step: Step): string {
  const sends = step.sends.map(
    ({ to, slots }) => `>${to}:${formatChunks(slots.map((slot) => part.slots[slot]!))}`,
  )
  const combines = [...step.receives, ...step.locals].some(({ how }) => how !== 'store')
  return [...sends, ...(combines ? ['+'] : [])].join(' ') || '.'
}

/** The whole schedule as text: one row per rank, one column per step. */
export function formatTimetable(shape: ScheduleShape, parts: readonly RankSchedule[]): string {
  const header = ['', ...Array.from({ length: shape.steps }, (_, step) => `step ${step}`)]
  const rows = parts.map((part) => [`rank ${part.rank}`, ...part.steps.map((step) => formatCell(part, step))])
  const table = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** One rank's part as text: every message and every move, with slots. */
export function formatPart(part: RankSchedule): string {
  const name = (slots: readonly number[]) => {
    const plural = slots.length === 1 ? '' : 's'
    const chunks = formatChunks(slots.map((slot) => part.slots[slot]!))
    return `chunk${plural} ${chunks} (slot${plural} ${slots.join(' ')})`
  }
  return part.steps
    .map((step, index) =>
      [
        `step ${index}`,
        ...step.sends.map(({ to, slots }) => `  send to ${to}: ${name(slots)}`),
        ...step.receives.map(({ from, slots, how }) => `  receive from ${from}, ${how}: ${name(slots)}`),
        ...step.locals.map(
          ({ from, slot, how }) => `  slot ${from}, ${how} to slot ${slot}: chunk ${part.slots[slot]}`,
        ),
      ].join('\n'),
    )
    .join('\n')
}
