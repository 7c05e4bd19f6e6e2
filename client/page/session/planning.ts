/** What would run, and what it would cost: pure functions of the settings and the measured network. */
import { countAdmitted } from '../../../shared/cost/candidates.ts'
import { type Chosen, chooseSchedule } from '../../../shared/cost/choose.ts'
import { curveTime } from '../../../shared/cost/curve.ts'
import { guessModel } from '../../../shared/cost/fit.ts'
import type { ChoiceRequest, NetworkModel, Prediction } from '../../../shared/cost/types.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { countRank } from '../../../shared/schedule/counts.ts'
import { groupNames } from '../../../shared/schedule/group.ts'
import { algorithms, findAlgorithm } from '../../../shared/schedule/registry.ts'
import type { Algorithm, Schedule, Settings } from '../../../shared/schedule/types.ts'
import { dtypes } from '../../../shared/wire/dtype.ts'
import type { LabState } from './labState.ts'
import { type Measured, settingsKey } from './results.ts'
import { countOf, optionsOf, type RunSpec, type Variant } from './runSpec.ts'
import { type RunState, survivorsOf } from './runState.ts'
import { type LabSettings, rValues, sweptAlgorithm, variantOf, writeAlgorithmKey } from './settings.ts'

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

export interface RRow {
  readonly r: number
  readonly prediction: Prediction
  /** Chunks that the busiest rank sends, of `chunks` in the vector. */
  readonly chunksSent: number
  readonly chunks: number
  readonly identical: boolean
  readonly measured: Measured | undefined
  /** Measured over predicted, minus one. */
  readonly error: number | undefined
  readonly isBestPredicted: boolean
  readonly isBestMeasured: boolean
  /** What `r: 'auto'` takes. */
  readonly isChosen: boolean
}

/** One row for each r of the butterfly (or of the set algorithm, when it has an r). */
export function rRows(
  settings: LabSettings,
  size: number,
  model: NetworkModel,
  measured: ReadonlyMap<string, Measured>,
): RRow[] {
  const key = sweptAlgorithm(settings.algorithm, size)
  const fast: LabSettings = { ...settings, algorithm: key, consistency: 'fast' }
  const auto = choiceOf({ ...fast, r: 'auto' }, size, model)
  const rows = rValues(key, size).flatMap((r) => {
    // As auto prices it, where auto considers it: the same number wherever the page shows it.
    const isThis = ({ settings }: Prediction) => settings.r === r
    const choice =
      typeof auto === 'string' || !auto.candidates.some(isThis) ? choiceOf({ ...fast, r }, size, model) : auto
    if (typeof choice === 'string') return []
    const { algorithm } = choice
    const prediction = choice.candidates.find(isThis) ?? choice.chosen
    const found = measured.get(settingsKey(prediction.algorithm, prediction.settings))
    return [
      {
        r,
        prediction,
        ...countsOf(algorithm, size, prediction.settings),
        identical: prediction.identical,
        measured: found,
        error: found && found.median / prediction.seconds - 1,
      },
    ]
  })
  const least = (value: (row: (typeof rows)[number]) => number | undefined) =>
    rows.reduce<(typeof rows)[number] | undefined>((best, row) => {
      const here = value(row)
      return here === undefined || (best && value(best)! <= here) ? best : row
    }, undefined)
  const bestPredicted = least((row) => row.prediction.seconds)
  const bestMeasured = least((row) => row.measured?.median)
  return rows.map((row) => ({
    ...row,
    isBestPredicted: row === bestPredicted,
    isBestMeasured: row === bestMeasured,
    isChosen: typeof auto !== 'string' && auto.chosen.settings.r === row.r,
  }))
}

const counted = new Map<string, { chunksSent: number; chunks: number }>()

/** Exact counts of the busiest rank; ranks beyond 64 are taken to be like the first ones. */
function countsOf(algorithm: Algorithm, size: number, settings: Settings) {
  const key = `${size} ${settingsKey(algorithm.name, settings)}`
  const known = counted.get(key)
  if (known) return known
  const shape = algorithm.shape(size, settings)
  const ranks = Array.from({ length: Math.min(size, 64) }, (_, rank) =>
    countRank(shape, algorithm.part(size, settings, rank)),
  )
  const counts = { chunksSent: Math.max(...ranks.map((rank) => rank.chunksSent)), chunks: shape.chunks }
  counted.set(key, counts)
  return counts
}

const schedules = new Map<string, Schedule>()

/** The whole schedule, made once; the page keeps the last 32. */
export function scheduleOf(algorithm: string, settings: Settings, size: number): Schedule {
  const key = `${size} ${settingsKey(algorithm, settings)}`
  const schedule = schedules.get(key) ?? buildSchedule(findAlgorithm(algorithm, 'allreduce'), size, settings)
  schedules.delete(key)
  schedules.set(key, schedule)
  if (schedules.size > 32) schedules.delete(schedules.keys().next().value!)
  return schedule
}

/**
 * What each step of a schedule is predicted to take: a step costs its slowest link. Steps overlap, so the shares are kept and
 * scaled to `seconds`, the prediction for the whole.
 */
export function stepSeconds(
  schedule: Schedule,
  bytes: number,
  model: NetworkModel,
  seconds: number,
): number[] {
  const perChunk = bytes / Math.max(1, schedule.chunks)
  const shares = Array.from({ length: schedule.steps }, (_, step) =>
    schedule.ranks.reduce((slowest, { rank, steps }) => {
      const times = (steps[step]?.sends ?? []).map(({ to, slots }) => {
        const curve = model.links[rank]?.[to]
        return curve ? curveTime(curve, slots.length * perChunk) : 0
      })
      return Math.max(slowest, ...times)
    }, 0),
  )
  const total = shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share) => (total > 0 ? (share / total) * seconds : seconds / shares.length))
}

export interface AlgorithmOption {
  readonly key: string
  readonly title: string
  readonly baseline: boolean
  /** Why it cannot be used with this size. */
  readonly refusal: string | undefined
}

/** Numbers that an algorithm has beside r: left to the choice. */
const openParameters: readonly string[] = ['ports', 'window', 'segments', 'pieces']

/** Everything that can be asked for by name, with one entry for each group where there are several. */
export function algorithmOptions(size: number): AlgorithmOption[] {
  return algorithms
    .filter(({ collective }) => collective === 'allreduce')
    .flatMap((algorithm) => {
      const { name, title, baseline, parameters } = algorithm
      const open = Object.fromEntries(
        parameters.flatMap((parameter) =>
          openParameters.includes(parameter.name) ? [[parameter.name, 'auto']] : [],
        ),
      )
      const hasGroups = parameters.some((parameter) => parameter.name === 'group')
      const groups = hasGroups ? groupNames(size) : []
      const first = { key: writeAlgorithmKey(name, open), title, settings: {} as Settings }
      const others = groups.slice(1).map((group) => ({
        key: writeAlgorithmKey(name, { ...open, group }),
        title: `${title}, ${group}`,
        settings: { group } as Settings,
      }))
      return [first, ...others].map(({ key, title, settings }) => ({
        key,
        title,
        baseline,
        refusal: refusalOf(algorithm, size, settings),
      }))
    })
}

function refusalOf(algorithm: Algorithm, size: number, settings: Settings): string | undefined {
  const defaults = Object.fromEntries(
    algorithm.parameters.flatMap((parameter) => {
      const value = parameter.values(size)[0]
      return value === undefined ? [] : [[parameter.name, value]]
    }),
  )
  return algorithm.refuses(size, { ...defaults, ...settings })
}
