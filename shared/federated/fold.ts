/** Moves bundles through the group in buckets: all of them are called at once, so that they have consecutive op numbers of one epoch. */
import type { CollectiveOptions, Group, Report } from '../collective/types.ts'
import type { Wire } from '../wire/codec.ts'
import { bucketBytesOf, bucketsOf } from './buckets.ts'
import { type Bundle, isWeighted, packBundle } from './bundles.ts'
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
export function proposeBucketBytes(group: Group, bundles: readonly Bundle[]): number {
  const bytes = bundles.reduce((sum, { type, count }) => sum + count * (type === 'f64' ? 8 : 4), 0)
  return bucketBytesOf(bytes, group.size, group.model)
}

/** The folds of all bundles, not yet divided. Fails as the first op that fails, once all have ended. */
export async function foldBundles(
  group: Group,
  bundles: readonly Bundle[],
  { entries, weight, bucketBytes, wire, ...options }: FoldOptions,
): Promise<{ vectors: Values[]; buckets: Report[] }> {
  const vectors: Values[] = []
  const running: Promise<{ report: Report }>[] = []
  for (const bundle of bundles) {
    const vector = packBundle(bundle, entries, weight)
    vectors.push(vector)
    for (const [begin, end] of bucketsOf(bundle.count, vector.BYTES_PER_ELEMENT, bucketBytes)) {
      const bucket = vector.subarray(begin, end)
      const name = `average: ${bundle.fold} of ${bundle.type} ${begin}`
      const coded = wire && bundle.type === 'f32' && isWeighted(bundle) && { wire }
      running.push(group.allreduce(bucket, { ...options, ...coded, name, op: bundle.fold, into: bucket }))
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
