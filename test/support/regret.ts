/**
 * How much longer the chosen schedule takes than the best of all, when both are executed by the simulator on the true
 * network.
 */
import { choose } from '../../shared/cost/choose.ts'
import { labelOf } from '../../shared/cost/explain.ts'
import { networkOf } from '../../shared/cost/network.ts'
import { predict, trafficOf } from '../../shared/cost/predict.ts'
import type { Scenario } from '../../shared/cost/scenarios.ts'
import { simulate } from '../../shared/cost/simulate.ts'
import type { NetworkModel } from '../../shared/cost/types.ts'
import { algorithms } from '../../shared/schedule/registry.ts'

export interface Regret {
  readonly regret: number
  readonly chosen: string
  readonly best: string
  readonly candidates: number
}

/** Candidates that are summed up to more than this many times the chosen one are not executed. */
const farBehind = 1.6

/** @param model what the group knows of the network */
export function regretOf(scenario: Scenario, model: NetworkModel, bytes: number): Regret {
  const { size } = scenario
  const call = {
    size,
    bytes,
    rounds: true,
    commutative: true,
    idempotent: false,
    consistency: 'fast',
  } as const
  const choice = choose(call, model, algorithms)
  const times = new Map<unknown, number>()
  const { isAlike } = networkOf(model)
  const execute = (graph: ReturnType<typeof trafficOf>) => {
    const key = isAlike && graph.one ? graph.one : graph
    const seconds = times.get(key) ?? simulate(graph.all(), bytes, scenario).seconds
    times.set(key, seconds)
    return seconds
  }
  const chosen = execute(trafficOf(choice.algorithm, size, choice.chosen.settings))
  let best = { seconds: chosen, label: labelOf(choice.chosen) }
  let candidates = 0
  for (const algorithm of algorithms) {
    if (algorithm.collective !== 'allreduce' || algorithm.baseline || algorithm.restrictions.idempotent)
      continue
    for (const settings of algorithm.variants(size)) {
      if (algorithm.refuses(size, settings) !== undefined) continue
      candidates++
      const predicted = predict(algorithm, settings, bytes, model).seconds
      if (predicted > farBehind * choice.chosen.seconds) continue
      const seconds = execute(trafficOf(algorithm, size, settings))
      if (seconds < best.seconds) best = { seconds, label: labelOf({ algorithm: algorithm.name, settings }) }
    }
  }
  return { regret: chosen / best.seconds - 1, chosen: labelOf(choice.chosen), best: best.label, candidates }
}
