/** Robust aggregation over a group: each member aggregates its chunk from everybody's contributions (robust.ts, twoShot.ts). */
import type { Aggregated, Aggregator, AggregatorInput } from './aggregate.ts'
import {
  assertRobust,
  coordinateMedian,
  defaults,
  pullCentre,
  pullsOf,
  type RobustAggregation,
  squaredDistances,
  trimmedMean,
} from './robust.ts'
import { fromOwners, type Owned, toOwners } from './twoShot.ts'

export function robustAggregator(aggregation: RobustAggregation): Aggregator {
  assertRobust(aggregation)
  /** The aggregate of the last round, in whole: chunks have other owners when the members change. */
  let history: Float32Array = new Float32Array(0)
  const run = async (input: AggregatorInput): Promise<Aggregated | undefined> => {
    const { group, place, call, update, samples } = input
    const owned = await toOwners(group, update, place, call)
    if (!owned) return undefined
    const rows = owned.rows.filter((_, rank) => samples.has(place.members[rank]!.peerId))
    const chunk = await aggregateChunk(aggregation, input, owned, rows, history)
    const whole = chunk && (await fromOwners(group, chunk, update.length, place, call))
    if (!whole) return undefined
    const settle = () => {
      history = whole.vector
    }
    return { update: whole.vector, reports: [owned.report, whole.report], settle }
  }
  return { isWeighted: false, isSecret: false, run }
}

async function aggregateChunk(
  aggregation: RobustAggregation,
  { group, place, call, update }: AggregatorInput,
  { begin, length }: Owned,
  rows: readonly Float32Array[],
  history: Float32Array,
): Promise<Float32Array | undefined> {
  if (aggregation.kind === 'median') return coordinateMedian(rows, length)
  if (aggregation.kind === 'trimmed-mean') return trimmedMean(rows, length, aggregation.trim ?? defaults.trim)
  const { radius, iterations = defaults.iterations } = aggregation
  let centre: Float32Array = new Float32Array(length)
  if (history.length === update.length) centre.set(history.subarray(begin, begin + length))
  for (let iteration = 0; iteration < iterations; iteration++) {
    // A distance is that of the whole vector: the owners add up their parts.
    const options = { ...call, epoch: place.epoch, name: 'round: distances', op: 'sum' } as const
    const { data, report } = await group.allreduce(squaredDistances(rows, centre), options)
    if (report.contributors.length !== place.members.length) return undefined
    centre = pullCentre(rows, centre, pullsOf(data, radius))
  }
  return centre
}
