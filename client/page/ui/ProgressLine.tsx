/** How far the run is. It only ever grows, and every step is shown, however short. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { takenOver } from '../../session/outcome.ts'
import type { RunState } from '../session/runState.ts'
import { useStore } from '../store.ts'

/** Percent of the whole run: all calls count alike. */
export function percentOf(run: RunState): number {
  if (run.phase === 'done') return 100
  const { call, fraction } = run
  return call ? Math.floor((100 * (call.index + fraction)) / call.total) : 0
}

/**
 * Follows `target` one by one, a few milliseconds apart: short steps end within one frame and would never be seen. A new
 * `key` begins at zero.
 */
function useCounting(target: number, key: string): number {
  const [shown, setShown] = useState({ key, value: 0 })
  const value = shown.key === key ? shown.value : 0
  useEffect(() => {
    if (value >= target) return
    const timer = setTimeout(() => setShown({ key, value: value + 1 }), 8)
    return () => clearTimeout(timer)
  }, [value, target, key])
  return value
}

export function ProgressLine(): JSX.Element {
  const run = useStore().run.value
  const percent = run ? percentOf(run) : 0
  const progress = run?.progress
  const steps = progress?.steps ?? 0
  const done = progress?.step ?? 0
  const key = run ? `${run.start.runId} ${run.call?.index} ${run.attempt}` : ''
  // One more than there are steps: also the last one is seen before the end is.
  const counted = useCounting(run?.phase === 'done' ? steps + 1 : Math.min(steps, done + 1), key)
  const label =
    run === undefined || counted === 0 || steps === 0
      ? ''
      : run.phase === 'running' && progress?.algorithm === takenOver
        ? 'Taking over the result'
        : run.phase === 'running' || (run.phase === 'done' && counted <= steps)
          ? `Step ${counted} of ${steps}${run.attempt > 1 && run.phase === 'running' ? ', begun anew' : ''}`
          : run.phase === 'done'
            ? `All ${steps} steps done`
            : `Ended in step ${Math.min(steps, done + 1)} of ${steps}`
  return (
    <div class="progress-line" data-phase={run?.phase ?? 'none'}>
      <div
        class="progress"
        role="progressbar"
        aria-label="Progress of the run"
        data-testid="progress"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={label === '' ? 'no run yet' : `${percent} %, ${label}`}
      >
        <span class="progress-bar" style={{ width: `${percent}%` }} />
      </div>
      <span class="step-label" data-testid="step-label">
        {label}
      </span>
    </div>
  )
}
