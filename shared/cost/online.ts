/**
 * Measured op times correct the prices. What an op took against what was predicted becomes a factor per kind of call
 * and candidate; candidates that never ran take a cautious mean of the factors that are known. An incumbent is kept
 * until another is clearly faster, so that the choice does not flap.
 *
 * All ranks must see the same observations in the same order: agree on one time per op (the slowest rank's) before it
 * is told here. Everything else follows from them, bit for bit.
 */
import { findAlgorithm } from '../schedule/registry.ts'
import type { Settings } from '../schedule/types.ts'
import { type Chosen, chooseSchedule } from './choose.ts'
import { labelOf, whyChosen } from './explain.ts'
import type { ChoiceRequest, NetworkModel, Prediction } from './types.ts'

/** What an op took, the same on every rank. */
export interface Observation {
  readonly request: ChoiceRequest
  readonly algorithm: string
  readonly settings: Settings
  /** Of the slowest rank. */
  readonly seconds: number
}

export interface Tuner {
  /**
   * The choice with what was learnt: `candidates` have the corrected seconds. Only calls that leave the algorithm
   * open are corrected.
   */
  choose(request: ChoiceRequest, model: NetworkModel): Chosen
  observe(observation: Observation, model: NetworkModel): void
}

/** Another candidate must be so much faster than the incumbent to take its place. */
const hysteresis = 0.9
/** Ops of a kind that the incumbent is given, at least. */
const patience = 2
/**
 * Candidates that never ran count as so many that ran as priced, when the mean of all factors is taken: a lone slow
 * one is more likely to be slow by itself than to speak for all.
 */
const benefit = 2
/** The newest op counts this much once a few are known. */
const newest = 0.25
/** One op that was disturbed tells little: ratios are cut to this range. */
const [leastRatio, mostRatio] = [0.2, 5]

interface Kind {
  /** By candidate. */
  readonly factors: Map<string, { factor: number; count: number }>
  incumbent: string | undefined
  /** Ops since the incumbent was taken. */
  age: number
}

export function createTuner(): Tuner {
  let version = -1
  const kinds = new Map<string, Kind>()

  const kindOf = (request: ChoiceRequest, model: NetworkModel): Kind => {
    // A new model is a new start: what was learnt was learnt about the old one.
    if (model.version !== version) kinds.clear()
    version = model.version
    const rest = Object.entries(request).filter(([name]) => name !== 'bytes')
    rest.sort(([a], [b]) => (a < b ? -1 : 1))
    const key = JSON.stringify([sizeClass(request.bytes), rest])
    const kind = kinds.get(key) ?? { factors: new Map(), incumbent: undefined, age: 0 }
    kinds.set(key, kind)
    return kind
  }

  return {
    choose(request, model) {
      const choice = chooseSchedule(request, model)
      if ((request.algorithm ?? 'auto') !== 'auto') return choice
      const kind = kindOf(request, model)
      if (kind.factors.size === 0) {
        kind.incumbent = labelOf(choice.chosen)
        return choice
      }
      const general = generalFactor(kind)
      const corrected = choice.candidates.map((candidate) =>
        scaled(candidate, kind.factors.get(labelOf(candidate))?.factor ?? general),
      )
      corrected.sort((a, b) => a.seconds - b.seconds)
      const fastest = corrected[0]!
      const incumbent = corrected.find((candidate) => labelOf(candidate) === kind.incumbent)
      const isKept = incumbent && (kind.age < patience || fastest.seconds > hysteresis * incumbent.seconds)
      const chosen = isKept ? incumbent : fastest
      if (chosen !== incumbent) kind.age = 0
      kind.incumbent = labelOf(chosen)
      const other = corrected.find((candidate) => candidate !== chosen && candidate.seconds > chosen.seconds)
      return {
        algorithm: findAlgorithm(chosen.algorithm, request.collective ?? 'allreduce'),
        chosen,
        candidates: corrected,
        refused: choice.refused,
        why: `${whyChosen(chosen, other, request.bytes)} Prices are corrected by what ops took.`,
      }
    },

    observe({ request, algorithm, settings, seconds }, model) {
      if ((request.algorithm ?? 'auto') !== 'auto') return
      const label = labelOf({ algorithm, settings })
      const priced = chooseSchedule(request, model).candidates.find(
        (candidate) => labelOf(candidate) === label,
      )
      if (!priced || !(priced.seconds > 0) || !(seconds > 0)) return
      const kind = kindOf(request, model)
      kind.age++
      const ratio = Math.min(mostRatio, Math.max(leastRatio, seconds / priced.seconds))
      const { factor, count } = kind.factors.get(label) ?? { factor: ratio, count: 0 }
      const weight = Math.max(newest, 1 / (count + 1))
      kind.factors.set(label, { factor: factor + weight * (ratio - factor), count: count + 1 })
    },
  }
}

/** For candidates that never ran. */
function generalFactor({ factors }: Kind): number {
  let sum = benefit
  for (const { factor } of factors.values()) sum += factor
  return sum / (factors.size + benefit)
}

function scaled(prediction: Prediction, factor: number): Prediction {
  const { alpha, beta, gamma } = prediction.parts
  const parts = { alpha: alpha * factor, beta: beta * factor, gamma: gamma * factor }
  return { ...prediction, seconds: prediction.seconds * factor, parts }
}

/** Vectors of one class differ in size by less than a factor of two. */
function sizeClass(bytes: number): number {
  let octave = 0
  for (let limit = 1; limit < bytes; limit *= 2) octave++
  return octave
}
