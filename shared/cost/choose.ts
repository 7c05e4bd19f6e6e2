/**
 * The choice of an algorithm: every variant that the call admits is priced, and the fastest is taken. Pure and
 * deterministic: ranks with the same model and the same call choose the same.
 */
import { algorithms as registry } from '../schedule/registry.ts'
import type { Algorithm } from '../schedule/types.ts'
import { type Admission, type AdmittedCandidate, auto, findCandidates } from './candidates.ts'
import { whyChosen } from './explain.ts'
import { ladderOf, stepOf } from './ladder.ts'
import { predict } from './predict.ts'
import { search } from './search.ts'
import type { Choice, ChoiceRequest, NetworkModel, Prediction } from './types.ts'

export interface Chosen extends Choice {
  readonly algorithm: Algorithm
}

/** Choices kept per model: a program calls with few different vectors. */
const cacheLimit = 256
const cache = new WeakMap<NetworkModel, Map<string, Chosen>>()
/** What a kind of call admits does not depend on the length of its vector. */
const admissions = new WeakMap<NetworkModel, Map<string, Admission>>()

const keyOf = (request: Partial<ChoiceRequest>): string =>
  JSON.stringify(Object.entries(request).sort(([a], [b]) => (a < b ? -1 : 1)))

/**
 * The variant to run, with the price of every candidate.
 * @throws ArgumentError when the call admits no candidate; it says what refused each
 */
export function chooseSchedule(request: ChoiceRequest, model: NetworkModel): Chosen {
  const known = cache.get(model) ?? new Map<string, Chosen>()
  cache.set(model, known)
  const key = keyOf(request)
  const found = known.get(key)
  if (found) return found
  const made = choose(request, model, registry)
  if (known.size >= cacheLimit) known.delete(known.keys().next().value!)
  known.set(key, made)
  return made
}

function admissionOf(
  request: ChoiceRequest,
  model: NetworkModel,
  algorithms: readonly Algorithm[],
): Admission {
  if (algorithms !== registry || request.memoryBytes !== undefined)
    return findCandidates(request, model, algorithms)
  const known = admissions.get(model) ?? new Map<string, Admission>()
  admissions.set(model, known)
  const { bytes: _, ...kind } = request
  const key = keyOf(kind)
  const found = known.get(key) ?? findCandidates(request, model, algorithms)
  known.set(key, found)
  return found
}

/** The same from another list of algorithms, without a cache. */
export function choose(call: ChoiceRequest, model: NetworkModel, algorithms: readonly Algorithm[]): Chosen {
  const request = withoutData(call)
  const { admitted, refused } = admissionOf(request, model, algorithms)
  const isStepped = isLadder(request)
  const { found, refused: left } = isStepped
    ? { found: priceAll(admitted, request, model), refused: [] }
    : search(admitted, request, model)
  const priced = [...found]
  priced.sort((a, b) => compare(a.prediction, b.prediction))
  const candidates = priced.map(({ prediction }) => prediction)

  let best = priced[0]!
  if (isStepped) {
    // Steps removed never rise with the vector (ladder.ts); elsewhere the fastest is taken as it is.
    const rungs = priced.map(({ settings, graph }) => ({ r: Number(settings.r), traffic: graph }))
    const r = stepOf(ladderOf(rungs, model), request.bytes)
    best = priced.find(({ settings }) => settings.r === r) ?? best
  }
  return {
    algorithm: best.algorithm,
    chosen: best.prediction,
    candidates,
    refused: [...refused, ...left],
    why: whyChosen(best.prediction, alternativeTo(best.prediction, candidates), request.bytes),
  }
}

/** A barrier moves no data: neither the order of operands nor counting one twice can do harm. */
function withoutData(call: ChoiceRequest): ChoiceRequest {
  if (call.collective !== 'barrier') return call
  return { ...call, rounds: false, commutative: true, idempotent: true }
}

const priceAll = (
  candidates: readonly AdmittedCandidate[],
  { bytes, rounds }: ChoiceRequest,
  model: NetworkModel,
) =>
  candidates.map((candidate) => ({
    ...candidate,
    prediction: predict(candidate.algorithm, candidate.settings, bytes, model, rounds),
  }))

/** Only r is open, of a named algorithm. */
function isLadder({ algorithm = auto, r, settings = {} }: ChoiceRequest): boolean {
  return algorithm !== auto && r === auto && !Object.values(settings).includes(auto)
}

/**
 * Faster first, to the nanosecond; then fewer steps. Sorting is stable, so that what is left of a tie goes by the
 * order of the registry and of the variants in it: no tie is left to chance.
 */
function compare(a: Prediction, b: Prediction): number {
  const nanoseconds = Math.round(a.seconds * 1e9) - Math.round(b.seconds * 1e9)
  return nanoseconds !== 0 ? nanoseconds : a.steps - b.steps
}

/** The best candidate that trades something else: variants of the same cost are no alternative to compare with. */
function alternativeTo(chosen: Prediction, candidates: readonly Prediction[]): Prediction | undefined {
  const others = candidates.filter((candidate) => candidate !== chosen)
  return others.find((other) => compare(other, chosen) !== 0) ?? others[0]
}
