/** What this page's own rank does: one sentence for now, its chunks, and the list of all its steps. */
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Schedule } from '../../../shared/schedule/types.ts'
import { BufferStrip } from '../stage/charts/BufferStrip.tsx'
import type { StageRank } from '../stage/timetable/data.ts'
import { nowWords, partWords } from '../words/part.ts'
import { Icon } from './Icon.tsx'
import { RankChip } from './RankChip.tsx'

export interface MyPartProps {
  readonly schedule: Schedule
  readonly ranks: readonly StageRank[]
  readonly bytes: number
  /** Steps that this rank has behind it. */
  readonly after: number
}

export function MyPart({ schedule, ranks, bytes, after }: MyPartProps): JSX.Element | null {
  const rank = ranks.findIndex((each) => each.here)
  const words = useMemo(
    () => partWords(schedule, rank, bytes, (other) => `${ranks[other]?.name} (rank ${other})`),
    [schedule, rank, bytes, ranks],
  )
  const me = ranks[rank]
  if (!me) return null
  return (
    <section class="my-part" aria-label="This page's part">
      <p class="my-line">
        <span data-testid="my-role" class="my-role">
          <RankChip rank={rank} hue={me.hue} /> You are rank {rank} of {ranks.length}, {me.name}.
        </span>{' '}
        <span data-testid="my-now">{nowWords(words, after)}</span>
      </p>
      <details class="my-details">
        <summary>My chunks and steps</summary>
        <BufferStrip schedule={schedule} ranks={ranks} rank={rank} after={after} />
        <ol class="my-steps" data-testid="my-steps">
          {words.map(({ step, sends, receives }) => (
            <li key={step} data-done={step < after}>
              {step < after && <Icon name="ok" size={16} />}
              {sends.map((line) => (
                <span key={line}>Send {line}. </span>
              ))}
              {receives.map((line) => (
                <span key={line}>Receive {line}. </span>
              ))}
            </li>
          ))}
        </ol>
      </details>
    </section>
  )
}
