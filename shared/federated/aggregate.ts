/** From the updates of all counted members to one update: the ways to do it. */
import { ArgumentError } from '../base/errors.ts'
import type { Group, Report } from '../collective/types.ts'
import { bucketsOf } from './buckets.ts'
import { foldLanes } from './fold.ts'
import { divideLane, type Lane } from './lanes.ts'
import type { CallOptions, Place } from './meeting.ts'
import type { Entry, Values } from './tensors.ts'

export type Aggregation =
  /** Mean by samples. */
  'mean'

/** What all aggregations are told, the same on every rank. */
export interface Aggregating {
  readonly group: Group
  readonly place: Place
  readonly call: CallOptions
  /** Samples of the counted members, by peerId. */
  readonly samples: ReadonlyMap<string, number>
  readonly bucketBytes: number
}

export interface Aggregated {
  readonly update: Float32Array
  readonly reports: readonly Report[]
}

export interface Aggregator {
  /** Updates count by samples; else each counted member's alike. */
  readonly isWeighted: boolean
  /**
   * `update`: this member's; zeros when it is not counted. Undefined, on all ranks alike, when a member was lost on the way: the
   * round then meets again without it.
   */
  run(input: Aggregating & { readonly update: Float32Array }): Promise<Aggregated | undefined>
}

export function aggregatorOf(aggregation: Aggregation): Aggregator {
  if (aggregation === 'mean') return { isWeighted: true, run: aggregateMean }
  throw new ArgumentError('aggregate', `Unknown aggregation ${JSON.stringify(aggregation)}.`)
}

/** Weights on the wire are samples / max(samples). */
function weightsOf({ group, samples }: Aggregating): { own: number; total: number } {
  const most = Math.max(...samples.values())
  const total = [...samples.values()].reduce((sum, value) => sum + value / most, 0)
  return { own: (samples.get(group.peerId) ?? 0) / most, total }
}

const aggregateMean: Aggregator['run'] = async ({ update, ...input }) => {
  const { group, place, call, bucketBytes } = input
  const { own, total } = weightsOf(input)
  const vector = new Float32Array(update.length)
  if (own > 0) for (let i = 0; i < vector.length; i++) vector[i] = own * update[i]!
  const reports = await sumInBuckets(group, vector, bucketBytes, {
    ...call,
    epoch: place.epoch,
    name: 'round: mean',
  })
  if (isPartial(place, reports)) return undefined
  for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! / total
  return { update: vector, reports }
}

/** What is folded beside the update: counters and the like. */
export async function foldExtras(
  lanes: readonly Lane[],
  entries: readonly Entry[],
  input: Aggregating,
): Promise<{ vectors: Values[]; reports: readonly Report[] } | undefined> {
  const { group, place, call, bucketBytes } = input
  const { own, total } = weightsOf(input)
  const options = { ...call, entries, weight: own, epoch: place.epoch, bucketBytes }
  const { vectors, buckets } = await foldLanes(group, lanes, options)
  if (isPartial(place, buckets)) return undefined
  for (const [index, lane] of lanes.entries()) divideLane(lane, vectors[index]!, total)
  return { vectors, reports: buckets }
}

/** Some members' data are in some of the results only. */
function isPartial({ members }: Place, reports: readonly Report[]): boolean {
  return reports.some(({ contributors }) => contributors.length !== members.length)
}

/** Sums a vector over the group, in place: all buckets in flight at once. Fails as the first op that fails, once all have ended. */
async function sumInBuckets(
  group: Group,
  vector: Float32Array,
  bucketBytes: number,
  { name, ...options }: CallOptions & { readonly name: string; readonly epoch: number },
): Promise<Report[]> {
  const buckets = bucketsOf(vector.length, vector.BYTES_PER_ELEMENT, bucketBytes).map(([begin, end]) => {
    const bucket = vector.subarray(begin, end)
    return group.allreduce(bucket, { ...options, name: `${name} ${begin}`, op: 'sum', into: bucket })
  })
  const ended = await Promise.allSettled(buckets)
  const failed = ended.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  return ended.flatMap((end) => (end.status === 'fulfilled' ? [end.value.report] : []))
}
