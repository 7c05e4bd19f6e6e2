/** What `auto` would take, of how many, and for which group: pure functions of the settings and the measured network. */
import { countAdmitted } from '../../../shared/cost/candidates.ts'
import { type Chosen, chooseSchedule } from '../../../shared/cost/choose.ts'
import { guessModel } from '../../../shared/cost/fit.ts'
import type { ChoiceRequest, NetworkModel } from '../../../shared/cost/types.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'
import { dtypes } from '../../../shared/wire/dtype.ts'
import { survivorsOf } from '../../session/outcome.ts'
import { countOf, optionsOf, type RunSpec, type Variant } from '../../session/runSpec.ts'
import type { LabState } from './labState.ts'
import type { RunState } from './runState.ts'
import { type LabSettings, variantOf } from './settings.ts'

/** Size of the group that is shown while nobody else is here. */
export const simulatedSize = 7

/** What plans depend on. */
export type PlanState = Pick<LabState, 'members'> & { readonly model?: NetworkModel | undefined }

export function isSimulated(state: PlanState): boolean {
  return state.members.length < 2
}

export function planSize(state: PlanState): number {
  return isSimulated(state) ? simulatedSize : state.members.length
}

/** The agreed model, or the built-in guess where there is none for this size. */
export function modelFor(state: PlanState, size = planSize(state)): NetworkModel {
  return state.model?.size === size ? state.model : guessModel(size)
}

/** The choice that `allreduce` would make with these settings, or why it would refuse. */
export function choiceOf(settings: LabSettings, size: number, model: NetworkModel): Chosen | string {
  return choiceFor(settings, variantOf(settings, size), size, model)
}

/** The same for one variant of a run, with the model that it began with: what was predicted stays as it was. */
export function choiceOfRun(run: RunState, variant: number): Chosen | string {
  const { spec } = run.start
  const size = survivorsOf(run).length
  const asked = spec.variants[variant] ?? spec.variants[0]!
  return choiceFor(spec, asked, size, modelFor({ members: run.members, model: run.model }, size))
}

type Call = Pick<RunSpec, 'bytes' | 'dtype' | 'op' | 'consistency'>

function choiceFor(call: Call, variant: Variant, size: number, model: NetworkModel): Chosen | string {
  try {
    return chooseSchedule(requestOf(call, variant, size), model)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function requestOf({ bytes, dtype, op, consistency }: Call, variant: Variant, size: number): ChoiceRequest {
  return {
    size,
    bytes: countOf({ bytes, dtype }) * dtypes[dtype].bytes,
    rounds: dtypes[dtype].isFloat && (op === 'sum' || op === 'mean'),
    commutative: true,
    idempotent: op === 'min' || op === 'max',
    consistency,
    ...optionsOf(variant),
  }
}

/** How many candidates `auto` has, and how many of them leave the same bits on all ranks; a schedule with several names counts with each. */
export function candidateCounts(
  settings: LabSettings,
  size: number,
  model: NetworkModel,
): { all: number; identical: number } {
  const counted = candidates.get(model) ?? new Map<string, { all: number; identical: number }>()
  candidates.set(model, counted)
  const { dtype, op } = settings
  const key = `${size} ${dtype} ${op}`
  const count = (consistency: Call['consistency']) =>
    countAdmitted(requestOf({ ...settings, consistency }, { algorithm: 'auto' }, size), model, algorithms)
  const known = counted.get(key) ?? { all: count('fast'), identical: count('identical') }
  counted.set(key, known)
  return known
}

const candidates = new WeakMap<NetworkModel, Map<string, { all: number; identical: number }>>()
