/** From the updates of all counted members to one update: the ways to do it. */
import { ArgumentError, UnsupportedError } from '../base/errors.ts'
import type { Group, Report } from '../collective/types.ts'
import type { Wire } from '../wire/codec.ts'
import { createFeedback, type Feedback } from '../wire/feedback.ts'
import { robustAggregator } from './aggregateRobustly.ts'
import { bucketsOf } from './buckets.ts'
import { type Bundle, divideBundle } from './bundles.ts'
import { foldBundles, reportsOf } from './fold.ts'
import type { CallOptions, Place } from './meeting.ts'
import type { RobustAggregation } from './robust.ts'
import type { Secrets } from './secrets.ts'
import { aggregateSecurely } from './secure.ts'
import type { Entry, Values } from './tensors.ts'
import { weightsOf } from './weights.ts'

export type Aggregation =
  /** Mean by samples. */
  | 'mean'
  /** The same mean, in which nobody sees another's update (secure.ts). */
  | 'secure'
  /** Each counted member alike, and a minority of bad updates without much say. */
  | RobustAggregation

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
  /** To be called once all have the result: what the next round needs of this one. */
  settle?(): void
}

export interface AggregatorInput extends Aggregating {
  /** This member's; zeros when it is not counted. */
  readonly update: Float32Array
  /** No element of any counted update is larger. */
  readonly peak: number
}

export interface Aggregator {
  /** Updates count by samples; else each counted member's alike. */
  readonly isWeighted: boolean
  /** The updates of all must stay hidden: of their numbers, only what is needed is told. */
  readonly isSecret: boolean
  /** Undefined, on all ranks alike, when a member was lost on the way: the round then meets again without it. */
  run(input: AggregatorInput): Promise<Aggregated | undefined>
}

export interface AggregatorConfig {
  readonly aggregation: Aggregation
  readonly wire?: Wire
  readonly secrets?: Secrets
}

export function aggregatorOf({ aggregation, wire = 'f32', secrets }: AggregatorConfig): Aggregator {
  if (aggregation === 'mean') return { isWeighted: true, isSecret: false, run: meanAggregator(wire) }
  if (wire !== 'f32')
    throw new ArgumentError(
      'wire',
      `Rounding on the wire goes with the aggregation 'mean', not with this one.`,
    )
  if (aggregation === 'secure') {
    if (!secrets)
      throw new UnsupportedError(
        'secure aggregation',
        'Pass `secrets`, or createRounds of papilio/federated.',
      )
    return { isWeighted: true, isSecret: true, run: (input) => aggregateSecurely(input, secrets) }
  }
  if (['median', 'trimmed-mean', 'centred-clipping'].includes(aggregation.kind))
    return robustAggregator(aggregation)
  throw new ArgumentError('aggregate', `Unknown aggregation ${JSON.stringify(aggregation)}.`)
}

/** What rounding on the wire takes from one round goes into the next. */
function meanAggregator(wire: Wire): Aggregator['run'] {
  let feedback: readonly Feedback[] = []
  let layout = ''
  return async ({ update, ...input }) => {
    const { group, place, call, bucketBytes } = input
    const { own, total } = weightsOf(input.samples, group.peerId)
    const vector = new Float32Array(update.length)
    if (own > 0) for (let i = 0; i < vector.length; i++) vector[i] = own * update[i]!
    const buckets = bucketsOf(vector.length, vector.BYTES_PER_ELEMENT, bucketBytes)
    // A handle belongs to one bucket; other members may mean other buckets.
    if (wire !== 'f32' && layout !== String(buckets)) feedback = buckets.map(createFeedback)
    layout = String(buckets)
    const sums = buckets.map(([begin, end], index) => {
      const bucket = vector.subarray(begin, end)
      return group.allreduce(bucket, {
        ...call,
        epoch: place.epoch,
        name: `round: mean ${begin}`,
        wire,
        ...(feedback[index] && { feedback: feedback[index] }),
        into: bucket,
      })
    })
    const reports = reportsOf(await Promise.allSettled(sums))
    if (isPartial(place, reports)) return undefined
    for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! / total
    return { update: vector, reports }
  }
}

/** What is folded beside the update: counters and the like. */
export async function foldExtras(
  bundles: readonly Bundle[],
  entries: readonly Entry[],
  input: Aggregating,
): Promise<{ vectors: Values[]; reports: readonly Report[] } | undefined> {
  const { group, place, call, bucketBytes } = input
  const { own, total } = weightsOf(input.samples, group.peerId)
  const options = { ...call, entries, weight: own, epoch: place.epoch, bucketBytes }
  const { vectors, buckets } = await foldBundles(group, bundles, options)
  if (isPartial(place, buckets)) return undefined
  for (const [index, bundle] of bundles.entries()) divideBundle(bundle, vectors[index]!, total)
  return { vectors, reports: buckets }
}

/** Some members' data are in some of the results only. */
function isPartial({ members }: Place, reports: readonly Report[]): boolean {
  return reports.some(({ contributors }) => contributors.length !== members.length)
}
