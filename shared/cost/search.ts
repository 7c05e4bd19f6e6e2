/**
 * The search for the fastest of many candidates, which looks closely only at those that may be it. What is known of a
 * candidate has three degrees:
 * - estimated: where links differ but all ranks do the same, one rank on median links among hosts as slow as the slowest;
 * - priced: every message once, in the order of the steps (price.ts); quick, but where much is under way at once some
 *   prices are a few percent too high, and others much too low;
 * - simulated: as events in virtual time (simulate.ts).
 * The candidate that may be the fastest by what is known of it is looked at more closely, until the fastest has been
 * simulated and no other may be faster. Candidates far behind cost next to nothing this way.
 */
import { bestPiecesOf } from '../schedule/pipeline.ts'
import { type AdmittedCandidate, auto, type Refusal, refusedTwin } from './candidates.ts'
import { labelOf } from './explain.ts'
import { networkOf } from './network.ts'
import { estimate, predict, trafficOf } from './predict.ts'
import { segmentBytes } from './price.ts'
import { simulate } from './simulate.ts'
import type { Traffic } from './traffic.ts'
import type { ChoiceRequest, NetworkModel, Prediction } from './types.ts'

export interface Found extends AdmittedCandidate {
  readonly prediction: Prediction
}

type Degree = 'estimated' | 'priced' | 'simulated'

interface Entry extends Found {
  prediction: Prediction
  degree: Degree
}

/**
 * Events that may be simulated for one choice, half a microsecond each or so: a tenth of what the op is predicted to
 * take, within bounds (choices are cached). In events and not in seconds, so that every rank looks at the same
 * candidates. One simulation may take a part of them, with longer segments if need be.
 */
const [fewestEvents, mostEvents, eventsPerSecond] = [1.5e4, 6e6, 2e5]
const [partForOne, mostForOne] = [1 / 24, 8e4]

/** What a candidate may take at the least, as a part of what is known; prices get more patience while that is cheap. */
const [ofEstimate, ofPrice, ofCheapPrice] = [0.85, 1 / 1.1, 1 / 1.5]

/** Above this the graph of every rank is too large to be simulated for a choice. */
const largestSimulated = 64

/** One rise of the time with the pieces may be a bump that segments and windows make; two are the slope. */
const rises = 2

export function search(
  candidates: readonly AdmittedCandidate[],
  request: ChoiceRequest,
  model: NetworkModel,
): { found: readonly Found[]; refused: readonly Refusal[] } {
  const { bytes } = request
  const { entries, refused } = firstLook(candidates, request, model)
  const simulation = createSimulation(bytes, model, fastestOf(entries)?.prediction.seconds ?? 0)
  const twins = new Map<string, Entry>()
  const isOpen = (request.algorithm ?? auto) === auto

  const leastOf = ({ degree, prediction: { seconds } }: Entry) => {
    if (degree === 'estimated') return seconds * ofEstimate
    if (degree === 'simulated' || simulation.isSpent()) return seconds
    return seconds * (simulation.isCheap() ? ofCheapPrice : ofPrice)
  }
  const isFinal = ({ degree }: Entry) =>
    degree === 'simulated' || (degree === 'priced' && simulation.isSpent())

  for (;;) {
    const next = fastestOf(
      entries.filter((entry) => !isFinal(entry)),
      leastOf,
    )
    if (!next) break
    const best = fastestOf(entries.filter(isFinal))
    if (best && best.prediction.seconds <= leastOf(next)) break
    if (next.degree === 'priced') {
      simulation.run(next)
      continue
    }
    const { algorithm, settings, graph } = next
    const key = `${graph.kind} ${graph.peers()}`
    const twin = twins.get(key)
    if (twin && isOpen) {
      entries.splice(entries.indexOf(next), 1)
      refused.push(refusedTwin(next, twin))
      continue
    }
    twins.set(key, next)
    next.prediction = predict(algorithm, settings, bytes, model, request.rounds)
    next.degree = 'priced'
  }
  return { found: entries, refused }
}

/**
 * An estimate of each candidate, or where there is none its price. Pieces of a pipeline are tried in ascending number:
 * the time has one valley in it, so once it rises, more pieces are left out.
 */
function firstLook(
  candidates: readonly AdmittedCandidate[],
  { bytes, rounds }: ChoiceRequest,
  model: NetworkModel,
): { entries: Entry[]; refused: Refusal[] } {
  const known = new Map<AdmittedCandidate, Entry>()
  const refused: Refusal[] = []
  const price = (candidate: AdmittedCandidate): number => {
    const prediction = predict(candidate.algorithm, candidate.settings, bytes, model, rounds)
    known.set(candidate, { ...candidate, prediction, degree: 'priced' })
    return prediction.seconds
  }
  const added: AdmittedCandidate[] = []
  const pipelines = new Map<string, AdmittedCandidate[]>()
  for (const candidate of candidates) {
    const { algorithm, settings } = candidate
    const prediction = estimate(algorithm, settings, bytes, model, rounds)
    if (prediction) known.set(candidate, { ...candidate, prediction, degree: 'estimated' })
    else if (settings.pieces === undefined) price(candidate)
    else {
      const line = labelOf({ algorithm: algorithm.name, settings: { ...settings, pieces: '' } })
      pipelines.set(line, [...(pipelines.get(line) ?? []), candidate])
    }
  }
  for (const pipeline of pipelines.values()) {
    if (pipeline.length > 1) {
      const textbook = withBestPieces(pipeline[0]!, bytes, model)
      if (pipeline.every((one) => piecesOf(one) !== piecesOf(textbook))) {
        pipeline.push(textbook)
        added.push(textbook)
      }
    }
    let [last, risen] = [Number.POSITIVE_INFINITY, 0]
    for (const candidate of pipeline.sort((a, b) => piecesOf(a) - piecesOf(b))) {
      if (risen >= rises) {
        const reason = 'Fewer pieces are faster already, and with more the time only rises.'
        refused.push({ algorithm: candidate.algorithm.name, settings: candidate.settings, reason })
        continue
      }
      const seconds = price(candidate)
      risen = seconds > last ? risen + 1 : 0
      last = seconds
    }
  }
  // In the order of the registry, by which ties go.
  return { entries: [...candidates, ...added].flatMap((candidate) => known.get(candidate) ?? []), refused }
}

/** A message that costs nothing would be cut without end. */
const shortest = 1e-9

const piecesOf = ({ settings }: AdmittedCandidate) => Number(settings.pieces)

/** The pipeline with the number of pieces that is best on straight lines like the median link. */
function withBestPieces(
  { algorithm, settings }: AdmittedCandidate,
  bytes: number,
  model: NetworkModel,
): AdmittedCandidate {
  const { size } = model
  const { typical } = networkOf(model)
  const { alpha, beta } = typical.link(0, 1)
  const cost = { bytes, alpha: Math.max(alpha + typical.host(0).overhead, shortest), beta }
  const best = { ...settings, pieces: bestPiecesOf(algorithm, size, settings, cost) }
  return { algorithm, settings: best, graph: trafficOf(algorithm, size, best) }
}

function fastestOf(
  entries: readonly Entry[],
  secondsOf = ({ prediction }: Entry) => prediction.seconds,
): Entry | undefined {
  let best: Entry | undefined
  for (const entry of entries) if (!best || secondsOf(entry) < secondsOf(best)) best = entry
  return best
}

/** Simulates within the budget of one choice. */
function createSimulation(bytes: number, model: NetworkModel, seconds: number) {
  const network = networkOf(model)
  const allowed = Math.min(mostEvents, Math.max(fewestEvents, seconds * eventsPerSecond))
  const known = new Map<unknown, number>()
  let spent = 0
  let isSpent = model.size > largestSimulated || model.size < 2

  return {
    isSpent: () => isSpent,
    isCheap: () => spent < fewestEvents,
    run(entry: Entry): void {
      const { graph, prediction } = entry
      // Where all links are alike, schedules of one graph take the same time under every name.
      const key = network.isAlike && graph.one ? graph.one : graph
      let seconds = known.get(key)
      if (seconds === undefined) {
        const traffic = graph.all()
        const { events, segment } = cutFor(traffic, bytes, Math.min(mostForOne, allowed * partForOne))
        isSpent = spent > 0 && spent + events > allowed
        if (isSpent) return
        spent += events
        seconds = simulate(traffic, bytes, network, { segmentBytes: segment }).seconds
        known.set(key, seconds)
      }
      const alpha = Math.min(prediction.parts.alpha, seconds)
      const gamma = Math.min(prediction.parts.gamma, seconds - alpha)
      entry.degree = 'simulated'
      entry.prediction = { ...prediction, seconds, parts: { alpha, beta: seconds - alpha - gamma, gamma } }
    },
  }
}

/** Segments that make no more than `allowed` events, if there can be so few, and the events that they make. */
function cutFor(traffic: Traffic, bytes: number, allowed: number): { events: number; segment: number } {
  for (let segment = segmentBytes; ; segment *= 2) {
    let events = 0
    for (const share of traffic.share) events += 4 * Math.max(1, Math.ceil((share * bytes) / segment))
    if (events <= allowed || segment >= bytes) return { events, segment }
  }
}
