/**
 * A second look at the candidates that lead: the price of a schedule sums its messages up in the order of its steps,
 * which is quick and, where links differ or much is under way at once, a few percent too kind to some. So the fastest
 * candidate is simulated before it is believed, then the one that is the fastest by then, until the fastest is one
 * that was simulated. Candidates far behind cost nothing this way.
 */
import type { Compiled } from './compile.ts'
import { networkOf } from './network.ts'
import { segmentBytes } from './price.ts'
import { simulate } from './simulate.ts'
import type { Traffic } from './traffic.ts'
import type { NetworkModel, Prediction } from './types.ts'

export interface Priced {
  readonly graph: Compiled
  readonly prediction: Prediction
}

/**
 * Events that may be simulated for one choice, half a microsecond each or so: a tenth of what the op is predicted to
 * take, within bounds (choices are cached). In events and not in seconds, so that every rank looks at the same
 * candidates. One simulation may take a part of them, with longer segments if need be.
 */
const [fewestEvents, mostEvents, eventsPerSecond] = [4e4, 6e6, 2e5]
const [partForOne, mostForOne] = [1 / 24, 8e4]

/**
 * Candidates that were summed up to within this much of the fastest are looked at, too, because some sums are too
 * high; and as long as that costs little, those within the wider margin.
 */
const [margin, wideMargin] = [0.1, 0.5]

/** Above this the graph of every rank is too large to be made for a second look. */
const largestSimulated = 64

/** The candidates with what was simulated in place of what was summed up. */
export function refine<T extends Priced>(candidates: readonly T[], bytes: number, model: NetworkModel): T[] {
  const refined = [...candidates]
  const network = networkOf(model)
  if (model.size > largestSimulated || model.size < 2) return refined
  const known = new Map<unknown, number>()
  const isDone = new Uint8Array(refined.length)
  /** The fastest that is simulated (or not, as asked); -1 when there is none. */
  const fastest = (done: 0 | 1) => {
    let best = -1
    for (let i = 0; i < refined.length; i++)
      if (
        isDone[i] === done &&
        (best < 0 || refined[i]!.prediction.seconds < refined[best]!.prediction.seconds)
      )
        best = i
    return best
  }
  const secondsOf = (index: number) =>
    index < 0 ? Number.POSITIVE_INFINITY : refined[index]!.prediction.seconds
  const allowed = Math.min(mostEvents, Math.max(fewestEvents, secondsOf(fastest(0)) * eventsPerSecond))
  let budget = allowed
  for (let next = fastest(0); next >= 0; next = fastest(0)) {
    const isCheap = allowed - budget < fewestEvents
    if (secondsOf(next) >= secondsOf(fastest(1)) * (1 + (isCheap ? wideMargin : margin))) break
    const { graph, prediction } = refined[next]!
    // Where all links are alike, schedules of one graph take the same time under every name.
    const key = network.isAlike && graph.one ? graph.one : graph
    let seconds = known.get(key)
    if (seconds === undefined) {
      const traffic = graph.all()
      const { events, segment } = cutFor(traffic, bytes, Math.min(mostForOne, allowed * partForOne))
      budget -= events
      if (budget < 0) break
      seconds = simulate(traffic, bytes, network, { segmentBytes: segment }).seconds
      known.set(key, seconds)
    }
    isDone[next] = 1
    const alpha = Math.min(prediction.parts.alpha, seconds)
    const gamma = Math.min(prediction.parts.gamma, seconds - alpha)
    refined[next] = {
      ...refined[next]!,
      prediction: { ...prediction, seconds, parts: { alpha, beta: seconds - alpha - gamma, gamma } },
    }
  }
  return refined
}

/** Segments that make no more than `allowed` events, if there can be so few, and the events that they make. */
function cutFor(traffic: Traffic, bytes: number, allowed: number): { events: number; segment: number } {
  for (let segment = segmentBytes; ; segment *= 2) {
    let events = 0
    for (const share of traffic.share) events += 4 * Math.max(1, Math.ceil((share * bytes) / segment))
    if (events <= allowed || segment >= bytes) return { events, segment }
  }
}
