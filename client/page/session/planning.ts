/** What would run, step by step, and what it would cost: pure functions of the settings and the measured network. */
import { curveTime } from '../../../shared/cost/curve.ts'
import type { NetworkModel, Prediction } from '../../../shared/cost/types.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { countRank } from '../../../shared/schedule/counts.ts'
import { groupNames } from '../../../shared/schedule/group.ts'
import { algorithms, findAlgorithm } from '../../../shared/schedule/registry.ts'
import type { Algorithm, Schedule, Settings } from '../../../shared/schedule/types.ts'
import { choiceOf } from './choices.ts'
import { type Measured, settingsKey } from './results.ts'
import { type LabSettings, rValues, sweptAlgorithm, writeAlgorithmKey } from './settings.ts'

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
  // One alone is the best of nothing.
  const isCompared = rows.filter(({ measured }) => measured).length > 1
  const bestMeasured = isCompared ? least((row) => row.measured?.median) : undefined
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
