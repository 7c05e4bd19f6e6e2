/** Moves lanes through the group in buckets: all of them are called at once, so that they have consecutive op numbers of one epoch. */
import type { CollectiveOptions, Group, Report } from '../collective/types.ts'
import type { Wire } from '../wire/codec.ts'
import { bucketBytesOf, bucketsOf } from './buckets.ts'
import { isWeighted, type Lane, packLane } from './lanes.ts'
import type { Entry, Values } from './tensors.ts'

export interface FoldOptions
  extends Pick<CollectiveOptions, 'timeoutMs' | 'signal' | 'algorithm' | 'onProgress'> {
  readonly entries: readonly Entry[]
  readonly weight: number
  readonly epoch: number
  readonly bucketBytes: number
  /** Of averages in 32 bits. */
  readonly wire?: Wire
}

/** What this rank would choose; the ranks take the proposal of one of them. */
export function proposeBucketBytes(group: Group, lanes: readonly Lane[]): number {
  const bytes = lanes.reduce((sum, { type, count }) => sum + count * (type === 'f64' ? 8 : 4), 0)
  return bucketBytesOf(bytes, group.size, group.model)
}

/** The folds of all lanes, not yet divided. Fails as the first op that fails, once all have ended. */
export async function foldLanes(
  group: Group,
  lanes: readonly Lane[],
  { entries, weight, bucketBytes, wire, ...options }: FoldOptions,
): Promise<{ vectors: Values[]; buckets: Report[] }> {
  const vectors: Values[] = []
  const running: Promise<{ report: Report }>[] = []
  for (const lane of lanes) {
    const vector = packLane(lane, entries, weight)
    vectors.push(vector)
    for (const [begin, end] of bucketsOf(lane.count, vector.BYTES_PER_ELEMENT, bucketBytes)) {
      const bucket = vector.subarray(begin, end)
      const name = `average: ${lane.fold} of ${lane.type} ${begin}`
      const coded = wire && lane.type === 'f32' && isWeighted(lane) && { wire }
      running.push(group.allreduce(bucket, { ...options, ...coded, name, op: lane.fold, into: bucket }))
    }
  }
  return { vectors, buckets: reportsOf(await Promise.allSettled(running)) }
}

/** Of ops that have all ended: their reports, or the error of the first that failed. */
export function reportsOf(ended: readonly PromiseSettledResult<{ readonly report: Report }>[]): Report[] {
  return ended.map((end) => {
    if (end.status === 'rejected') throw end.reason
    return end.value.report
  })
}
