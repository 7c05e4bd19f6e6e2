/** What the stage shows: the plan of the settings, the run as it goes, or the run again. */
import { useMemo } from 'preact/hooks'
import type { TraceMessage } from '../../../shared/collective/types.ts'
import type { Member } from '../../../shared/membership/types.ts'
import type { Settings } from '../../../shared/schedule/types.ts'
import { dtypes } from '../../../shared/wire/dtype.ts'
import type { LabState } from '../session/labState.ts'
import { isSimulated, planSize } from '../session/planning.ts'
import { tracesOf } from '../session/playback.ts'
import { contributorsOf, outcomeOf } from '../session/results.ts'
import { countOf } from '../session/runSpec.ts'
import type { RunState } from '../session/runState.ts'
import type { StageRank } from '../stage/timetable/data.ts'
import { useStore } from '../store.ts'

export interface Shown {
  readonly algorithm: string
  readonly settings: Settings
  readonly bytes: number
  readonly ranks: readonly StageRank[]
  readonly run?: RunState
  readonly variant: number
  readonly traces?: readonly (readonly TraceMessage[] | undefined)[]
}

/** The members of the group, of a run, or of a group that is only simulated. */
export function ranksOf(state: LabState, members?: readonly Member[]): StageRank[] {
  if (!members && isSimulated(state))
    return Array.from({ length: planSize(state) }, (_, rank) => ({
      name: `Peer ${rank}`,
      peerId: `simulated-${rank}`,
      hue: rank,
      here: rank === 0,
    }))
  return (members ?? state.members).map(({ peerId, name }, rank) => ({
    name,
    peerId,
    hue: state.hues.get(peerId) ?? rank,
    here: peerId === state.self?.peerId,
  }))
}

export function useShown(): Shown | undefined {
  const { state, settings, stageView, ...store } = useStore()
  const run = stageView.value === 'run' ? store.run.value : undefined
  const choice = store.choice.value
  const now = state.value
  const variant = store.variant.value
  const results = run?.results.get(variant)
  const members = useMemo(() => run && contributorsOf(run, variant), [run?.members, results, variant])
  const ranks = useMemo(() => ranksOf(now, members), [now.members, now.hues, now.self?.peerId, members])
  const traces = useMemo(() => run && results && tracesOf(run, variant), [run?.members, results, variant])
  if (run) {
    const { bytes, dtype } = run.start.spec
    const live = run.phase === 'running' ? run.progress : undefined
    const outcome = live ?? outcomeOf(run, variant) ?? run.progress
    if (outcome)
      return {
        algorithm: outcome.algorithm,
        settings: outcome.settings,
        bytes: countOf({ bytes, dtype }) * dtypes[dtype].bytes,
        ranks,
        run,
        variant,
        ...(traces && run.phase !== 'running' ? { traces } : {}),
      }
  }
  if (typeof choice === 'string') return undefined
  const { bytes, dtype } = settings.value
  return {
    algorithm: choice.chosen.algorithm,
    settings: choice.chosen.settings,
    bytes: countOf({ bytes, dtype }) * dtypes[dtype].bytes,
    ranks: run ? ranksOf(now) : ranks,
    variant: 0,
  }
}
