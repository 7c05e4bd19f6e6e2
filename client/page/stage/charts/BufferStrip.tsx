import type { JSX } from 'preact'
import { useCallback } from 'preact/hooks'
import type { Schedule } from '../../../../shared/schedule/types.ts'
import { Chart } from '../drawing/Chart.tsx'
import { formatList, plural } from '../format.ts'
import type { StageRank } from '../timetable/data.ts'
import { holdingsOf } from '../timetable/flow.ts'
import { rankWords } from '../timetable/words.ts'
import { layoutBufferStrip } from './bufferStripLayout.ts'

export interface BufferStripProps {
  readonly schedule: Schedule
  readonly ranks: readonly StageRank[]
  readonly rank: number
  /** Steps that this rank has behind it. */
  readonly after: number
}

/** What one rank holds after a step: for phones, and for "my chunks". */
export function BufferStrip({ schedule, ranks, rank, after }: BufferStripProps): JSX.Element {
  const holdings = holdingsOf(schedule)[Math.max(0, Math.min(after, schedule.steps))]!
  const { chunks } = schedule
  const draw = useCallback(
    (width: number, scale: number) => layoutBufferStrip({ ranks, rank, chunks, holdings }, width, scale),
    [ranks, rank, chunks, holdings],
  )
  const counts = Array.from({ length: chunks }, (_, chunk) => holdings.count(rank, chunk))
  const full = counts.filter((count) => count === ranks.length).length
  const place = after === 0 ? 'at the start' : `after step ${after} of ${schedule.steps}`
  const summary = `Chunks of ${rankWords(ranks, rank)} ${place}: ${full} of ${plural(chunks, 'chunk')} complete. Contributions per chunk: ${counts.join(', ')}.`
  return (
    <Chart
      title={`Chunks of ${rankWords(ranks, rank)} ${place}`}
      summary={summary}
      testId="buffer-strip"
      items="Chunks"
      fileName={`papilio-chunks-rank-${rank}`}
      draw={draw}
      data={{ 'data-full': full, 'data-chunks': chunks, 'data-after': after }}
      table={() => ({
        caption: `Chunks of ${rankWords(ranks, rank)} ${place}`,
        columns: [
          { title: 'Chunk', csv: 'chunk' },
          { title: 'Contributions', csv: 'contributions', numeric: true },
          { title: 'From ranks', csv: 'ranks' },
          { title: 'State', csv: 'state' },
        ],
        rows: counts.map((count, chunk) => [
          chunk,
          count,
          formatList(
            ranks.map((_, i) => i).filter((i) => holdings.has(rank, chunk, i)),
            Number.POSITIVE_INFINITY,
          ),
          count === 0
            ? 'empty'
            : count === ranks.length
              ? 'complete'
              : holdings.live(rank, chunk)
                ? 'partial'
                : 'given away',
        ]),
      })}
    />
  )
}
