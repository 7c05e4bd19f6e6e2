/** The timetable in the middle: the plan, the run as it goes, the run again. */
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Schedule } from '../../../shared/schedule/types.ts'
import { outcomeOf } from '../../session/outcome.ts'
import { scheduleOf } from '../session/planning.ts'
import { ghostOf, stepEnds } from '../session/playback.ts'
import type { RunState } from '../session/runState.ts'
import type { GanttProps } from '../stage/charts/Gantt.tsx'
import { formatSeconds, plural } from '../stage/format.ts'
import { Playback } from '../stage/playback/Playback.tsx'
import type { StageRank } from '../stage/timetable/data.ts'
import { progressOf, type RankProgress } from '../stage/timetable/moment.ts'
import { Timetable } from '../stage/timetable/Timetable.tsx'
import { cumulative } from '../stage/timetable/time.ts'
import { titleOf } from '../stage/timetable/title.ts'
import { useStore } from '../store.ts'
import { lazy } from './lazy.tsx'
import { MyPart } from './MyPart.tsx'
import { StageTabs } from './StageTabs.tsx'
import { type Shown, useShown } from './shown.ts'

const Gantt = lazy<GanttProps>(async () => (await import('../stage/charts/Gantt.tsx')).Gantt)

/** Runs shorter than this are over before anybody has seen them: they are played again, slowly. */
const shortSeconds = 0.4

/** How far each rank is in the call that goes on now; undefined where nothing is known. */
function progressOfRanks(
  { run, ranks, bytes }: Shown & { run: RunState },
  schedule: Schedule,
): (RankProgress | undefined)[] {
  return ranks.map(({ here, peerId }, rank) =>
    here ? progressOf(schedule, bytes, rank, run.progress ?? { step: 0, bytes: 0 }) : run.peers.get(peerId),
  )
}

export function Stage(): JSX.Element | null {
  const shown = useShown()
  if (!shown) return null
  const runId = shown.run?.start.runId
  // Another run, another playback: it begins anew.
  return <Showing key={`${runId} ${shown.variant} ${shown.run?.phase}`} shown={shown} />
}

function Showing({ shown }: { shown: Shown }): JSX.Element {
  const store = useStore()
  const { algorithm, settings, bytes, ranks, run, variant, traces, predicted } = shown
  const schedule = scheduleOf(algorithm, settings, ranks.length)
  const ghost = ghostOf(algorithm, settings, ranks.length)
  const isLive = run?.phase === 'running'
  const outcome = run && outcomeOf(run, variant)
  const isShort = run?.phase === 'done' && (outcome?.times.median ?? 1) < shortSeconds
  const [wanted, setMode] = useState<'steps' | 'time'>('steps')
  const isTraced = traces?.some((trace) => trace !== undefined) ?? false
  const canTime = isTraced || (predicted !== undefined && !isLive && schedule.steps > 0)
  const mode = canTime ? wanted : 'steps'
  const ends = useMemo(
    () => (isTraced || !predicted ? stepEnds(traces ?? [], schedule.steps) : cumulative(predicted)),
    [traces, isTraced, predicted, schedule],
  )
  const stops = mode === 'time' ? ends : Array.from({ length: schedule.steps + 1 }, (_, step) => step)
  const last = stops.at(-1) ?? 0
  // A run that broke off stands where it broke off. Undefined is the end, also of a plan that gets longer.
  const isBroken = run !== undefined && outcome === undefined
  const [cursor, setCursor] = useState<number | undefined>(
    isShort ? 0 : isBroken ? (run.progress?.step ?? 0) : undefined,
  )
  const at = Math.min(cursor ?? last, last)
  const moveTo = (position: number) => setCursor(position < last ? position : undefined)
  const step = stops.filter((stop) => stop > 0 && stop <= at + 1e-9).length
  const seconds = mode === 'time' ? at : ends[step]
  const toMode = (next: 'steps' | 'time') => {
    setMode(next)
    if (cursor !== undefined) setCursor(next === 'time' ? ends[step] : step)
  }
  const waiting = useMemo(() => (isLive && run ? waitingOf(run, ranks) : []), [isLive, run, ranks])
  const simulated = run === undefined && store.simulated.value
  return (
    <section class="stage" aria-label="Timetable">
      <StageTabs run={run} variant={variant} canTime={canTime} mode={mode} onMode={toMode} />
      <Timetable
        schedule={schedule}
        bytes={bytes}
        mode={mode}
        ranks={ranks}
        ghostOf={ghost}
        messages={traces}
        predicted={predicted}
        cursor={isLive ? undefined : at}
        onCursor={moveTo}
        progress={isLive && run ? progressOfRanks({ ...shown, run }, schedule) : undefined}
        waiting={waiting}
        simulated={simulated}
        title={simulated ? undefined : `${run ? 'Run' : 'Plan'}: ${titleOf(schedule)}`}
      />
      {!isLive && (
        <Playback
          stops={stops}
          cursor={at}
          onCursor={moveTo}
          secondsPerUnit={mode === 'time' ? 6 / Math.max(1e-6, last) : 1.2}
          describe={
            mode === 'time'
              ? (position) => formatSeconds(position)
              : (position) => `${Math.floor(position + 1e-9)} of ${plural(schedule.steps, 'step')} done`
          }
          autoPlay={isShort}
        />
      )}
      {!simulated && (
        <MyPart
          schedule={schedule}
          ranks={ranks}
          bytes={bytes}
          after={isLive ? (run?.progress?.step ?? 0) : step}
        />
      )}
      {isTraced && traces && <Gantt ranks={ranks} messages={traces} predicted={predicted} cursor={seconds} />}
    </section>
  )
}

function waitingOf(run: RunState, ranks: readonly StageRank[]) {
  const self = ranks.findIndex((rank) => rank.here)
  if (!run.waiting || self < 0) return []
  return [{ rank: self, peers: run.waiting.peers.map((peer) => peer.rank) }]
}
