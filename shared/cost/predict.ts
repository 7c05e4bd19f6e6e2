/** What a schedule costs on the agreed network, for every algorithm of the registry. */
import type { Algorithm, Schedule, Settings } from '../schedule/types.ts'
import { type Compiled, compileAlgorithm, compileSchedule, largestWhole, once } from './compile.ts'
import { settingsText } from './explain.ts'
import { type Network, networkOf } from './network.ts'
import { createPricer, type Pricer } from './price.ts'
import type { Traffic } from './traffic.ts'
import type { NetworkModel, Prediction } from './types.ts'

const compiled = new WeakMap<Algorithm, Map<string, Compiled>>()

/** The graph of messages of an algorithm, made once. */
export function trafficOf(algorithm: Algorithm, size: number, settings: Settings): Compiled {
  const byKey = compiled.get(algorithm) ?? new Map<string, Compiled>()
  compiled.set(algorithm, byKey)
  const key = `${size} ${settingsText(settings)}`
  const known = byKey.get(key)
  if (known) return known
  const made = compileAlgorithm(algorithm, size, settings)
  byKey.set(key, made)
  return made
}

interface Priced {
  readonly traffic: Traffic
  readonly price: Pricer
  /** Seconds of the schedule with an empty vector: steps and messages alone. */
  readonly empty: () => number
  /** The last price asked for: many variants share one graph. */
  last:
    | { readonly bytes: number; readonly seconds: number; readonly parts: () => Prediction['parts'] }
    | undefined
}

const pricedGraphs = new WeakMap<Network, WeakMap<Traffic, Priced>>()

/** The graph to price, on the network to price it on: one rank for all where links and ranks allow it. */
function pricedOf(graph: Compiled, model: NetworkModel): Priced {
  const measured = networkOf(model)
  const isOne = graph.one !== undefined && (measured.isAlike || graph.one.size > largestWhole)
  return isOne ? pricedGraph(graph.one!, measured.typical) : pricedGraph(graph.all(), measured)
}

function pricedGraph(traffic: Traffic, network: Network): Priced {
  const known = pricedGraphs.get(network) ?? new WeakMap<Traffic, Priced>()
  pricedGraphs.set(network, known)
  const found = known.get(traffic)
  if (found) return found
  const price = createPricer(traffic, network)
  const made = { traffic, price, empty: once(() => price(0)), last: undefined }
  known.set(traffic, made)
  return made
}

/** Seconds for vectors of any size. */
export function pricerOf(graph: Compiled, model: NetworkModel): Pricer {
  return pricedOf(graph, model).price
}

/**
 * Seconds for a vector of `bytes` bytes and where they go. alpha: what the schedule costs with an empty vector;
 * gamma: what combining adds; beta: the rest, what the bytes on the wire add.
 */
function priceInParts(priced: Priced, bytes: number) {
  if (priced.last?.bytes !== bytes) {
    const seconds = priced.price(bytes)
    const parts = once(() => {
      const alpha = Math.min(seconds, priced.empty())
      const gamma = Math.min(seconds - alpha, Math.max(0, seconds - priced.price(bytes, 0)))
      return { alpha, beta: seconds - alpha - gamma, gamma }
    })
    priced.last = { bytes, seconds, parts }
  }
  const { traffic, last } = priced
  const { seconds, parts } = last!
  return {
    seconds,
    /** Two prices more, so only for who asks. */
    get parts() {
      return parts()
    },
    steps: traffic.steps,
    bytesSent: traffic.sentShare * bytes,
  }
}

/**
 * What one variant of an algorithm costs.
 * @param bytes of the whole vector
 * @param rounds whether the result depends on the operand order (float sums); otherwise all ranks have the same bits
 * anyway
 */
export function predict(
  algorithm: Algorithm,
  settings: Settings,
  bytes: number,
  model: NetworkModel,
  rounds = true,
): Prediction {
  const priced = pricedOf(trafficOf(algorithm, model.size, settings), model)
  return Object.assign(priceInParts(priced, bytes), describe(algorithm, settings, model, rounds))
}

function describe(algorithm: Algorithm, settings: Settings, { size }: NetworkModel, rounds: boolean) {
  return {
    algorithm: algorithm.name,
    settings,
    identical: !rounds || algorithm.identical(size, settings),
  }
}

/**
 * What one rank would need on median links if every host were the slowest: a price of microseconds for a schedule in
 * which all ranks do the same, where the links differ. Undefined for other schedules, and where it is the price.
 */
export function estimate(
  algorithm: Algorithm,
  settings: Settings,
  bytes: number,
  model: NetworkModel,
  rounds: boolean,
): Prediction | undefined {
  const { size } = model
  const { one } = trafficOf(algorithm, size, settings)
  const { isAlike, slowest } = networkOf(model)
  if (one === undefined || isAlike || size > largestWhole) return undefined
  const priced = pricedGraph(one, slowest)
  return Object.assign(priceInParts(priced, bytes), describe(algorithm, settings, model, rounds))
}

/** The same for a schedule that is in no registry. */
export function predictSchedule(
  schedule: Schedule,
  bytes: number,
  model: NetworkModel,
): Omit<Prediction, 'identical'> {
  const { algorithm, settings } = schedule
  return Object.assign(priceInParts(pricedOf(compileSchedule(schedule), model), bytes), {
    algorithm,
    settings,
  })
}
