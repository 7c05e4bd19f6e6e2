/** Moves lanes through the group in buckets: all of them are called at once, so that they have consecutive op numbers of one epoch. */
import type { CollectiveOptions, Group, Report } from '../collective/types.ts'
import { bucketBytesOf, bucketsOf } from './buckets.ts'
import { type Lane, packLane } from './lanes.ts'
import type { Entry, Values } from './tensors.ts'

export interface FoldOptions
  extends Pick<CollectiveOptions, 'timeoutMs' | 'signal' | 'algorithm' | 'onProgress'> {
  readonly entries: readonly Entry[]
  readonly weight: number
  readonly epoch: number
  readonly bucketBytes: number
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
  { entries, weight, bucketBytes, ...options }: FoldOptions,
): Promise<{ vectors: Values[]; buckets: Report[] }> {
  const vectors: Values[] = []
  const running: Promise<{ report: Report }>[] = []
  for (const lane of lanes) {
    const vector = packLane(lane, entries, weight)
    vectors.push(vector)
    for (const [begin, end] of bucketsOf(lane.count, vector.BYTES_PER_ELEMENT, bucketBytes)) {
      const bucket = vector.subarray(begin, end)
      const name = `average: ${lane.fold} of ${lane.type} ${begin}`
      running.push(group.allreduce(bucket, { ...options, name, op: lane.fold, into: bucket }))
    }
  }
  const ended = await Promise.allSettled(running)
  const failed = ended.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  return { vectors, buckets: ended.flatMap((end) => (end.status === 'fulfilled' ? [end.value.report] : [])) }
}
