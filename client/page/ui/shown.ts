/** What the stage shows: the plan of the settings, the run as it goes, or the run again. */
import { useMemo } from 'preact/hooks'
import type { TraceMessage } from '../../../shared/collective/types.ts'
import type { Member } from '../../../shared/membership/types.ts'
import type { Settings } from '../../../shared/schedule/types.ts'
import { dtypes } from '../../../shared/wire/dtype.ts'
import { contributorsOf, outcomeOf, survivorsOf, takenOver } from '../../session/outcome.ts'
import { countOf } from '../../session/runSpec.ts'
import { isSimulated, planSize } from '../session/choices.ts'
import type { LabState } from '../session/labState.ts'
import { scheduleOf, stepSeconds } from '../session/planning.ts'
import { tracesOf } from '../session/playback.ts'
import { settingsKey } from '../session/results.ts'
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
  /** Seconds of each step. */
  readonly predicted?: readonly number[]
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
  const choice = (run && store.runChoice.value) ?? store.choice.value
  const now = state.value
  const variant = store.variant.value
  const results = run?.results.get(variant)
  const plan = typeof choice === 'string' ? undefined : choice.chosen
  const told = run && outcomeOf(run, variant)
  // A rank that takes the finished result over from another one follows no schedule of its own.
  const [progress, outcome] = [run?.progress, told].map((each) =>
    each?.algorithm === takenOver ? undefined : each,
  )
  const known = (run?.phase === 'running' ? (progress ?? outcome) : (outcome ?? progress)) ?? plan
  const isTold = known !== undefined && known === outcome
  const members = useMemo(
    () => run && (isTold ? contributorsOf(run, variant) : survivorsOf(run)),
    [run?.members, run?.lost, results, variant, isTold],
  )
  const ranks = useMemo(() => ranksOf(now, members), [now.members, now.hues, now.self?.peerId, members])
  const traces = useMemo(() => run && isTold && tracesOf(run, variant), [members, results, variant, isTold])
  const { bytes, dtype } = run ? run.start.spec : settings.value
  const sent = countOf({ bytes, dtype }) * dtypes[dtype].bytes
  const size = ranks.length
  const model = run ? run.model : store.model.value
  const seconds = told?.predictedSeconds ?? plan?.seconds
  const isPredicted = model?.size === size && (run === undefined || run.lost.length === 0)
  const key = known && settingsKey(known.algorithm, known.settings)
  const predicted = useMemo(
    () =>
      known && model && isPredicted && seconds !== undefined
        ? stepSeconds(scheduleOf(known.algorithm, known.settings, size), sent, model, seconds)
        : undefined,
    [key, isPredicted, size, sent, model, seconds],
  )
  if (!known) return undefined
  return {
    algorithm: known.algorithm,
    settings: known.settings,
    bytes: sent,
    ranks,
    ...(run ? { run } : {}),
    variant: run ? variant : 0,
    ...(traces && run?.phase !== 'running' ? { traces } : {}),
    ...(predicted ? { predicted } : {}),
  }
}
