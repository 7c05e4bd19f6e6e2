/** What a schedule costs on the agreed network, for every algorithm of the registry. */
import type { Algorithm, Schedule, Settings } from '../schedule/types.ts'
import { settingsText } from './explain.ts'
import { type Network, networkOf, type PreparedNetwork } from './network.ts'
import { price } from './price.ts'
import { type Compiled, compileAlgorithm, compileSchedule, sampleAbove, type Traffic } from './traffic.ts'
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

/** The graph to price and what to price it on: one rank for all where links and ranks allow it. */
export function pricing(graph: Compiled, network: PreparedNetwork): { traffic: Traffic; network: Network } {
  if (graph.one && (network.isAlike || graph.one.size > sampleAbove))
    return { traffic: graph.one, network: network.typical }
  return { traffic: graph.all(), network }
}

const emptyPrices = new WeakMap<Network, WeakMap<Traffic, number>>()

/** Seconds of the schedule with an empty vector: steps and messages alone. */
function priceOfNothing(traffic: Traffic, network: Network): number {
  const known = emptyPrices.get(network) ?? new WeakMap<Traffic, number>()
  emptyPrices.set(network, known)
  const found = known.get(traffic) ?? price(traffic, 0, network)
  known.set(traffic, found)
  return found
}

/**
 * Seconds for a vector of `bytes` bytes and where they go. alpha: what the schedule costs with an empty vector; gamma: what
 * combining adds; beta: the rest, what the bytes on the wire add.
 */
function priceInParts(graph: Compiled, bytes: number, model: NetworkModel) {
  const { traffic, network } = pricing(graph, networkOf(model))
  const seconds = price(traffic, bytes, network)
  const alpha = Math.min(seconds, priceOfNothing(traffic, network))
  const gamma = Math.min(seconds - alpha, Math.max(0, seconds - price(traffic, bytes, network, 0)))
  return {
    seconds,
    parts: { alpha, beta: seconds - alpha - gamma, gamma },
    steps: traffic.steps,
    bytesSent: traffic.sentShare * bytes,
  }
}

/**
 * What one variant of an algorithm costs.
 * @param bytes of the whole vector
 * @param rounds whether the result depends on the operand order (float sums); otherwise all ranks have the same bits anyway
 */
export function predict(
  algorithm: Algorithm,
  settings: Settings,
  bytes: number,
  model: NetworkModel,
  rounds = true,
): Prediction {
  const { size } = model
  return {
    algorithm: algorithm.name,
    settings,
    ...priceInParts(trafficOf(algorithm, size, settings), bytes, model),
    identical: !rounds || algorithm.identical(size, settings),
  }
}

/** The same for a schedule that is in no registry. */
export function predictSchedule(
  schedule: Schedule,
  bytes: number,
  model: NetworkModel,
): Omit<Prediction, 'identical'> {
  const { algorithm, settings, ranks } = schedule
  const graph = compileSchedule(schedule, (rank) => ranks[rank]!)
  return { algorithm, settings, ...priceInParts(graph, bytes, model) }
}
