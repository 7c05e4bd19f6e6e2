/**
 * How long the vectors are in which many small tensors travel. K buckets of a message of m bytes hide the time to produce the bytes behind
 * the time to send them, except for the first bucket, and each costs an overhead:
 *
 *   T(K) = produce(m) / K + send(m) + K * overhead, least at K = sqrt(produce(m) / overhead)
 *
 * (Rabenseifner's and DDP's argument for buckets.) Packing costs about two passes over the bytes, gradients as long as their computation takes.
 */
import type { NetworkModel } from '../cost/types.ts'

/** A bucket of no more than this moves smoothly and ends soon after an abort. */
const maxBucketBytes = 16 * 1024 * 1024
const minBucketBytes = 64 * 1024
/** Passes over memory to pack and unpack a byte, in units of combining one. */
const packing = 2

/** `produceSeconds`: what it takes to make all the bytes; default: packing them. */
export function bucketBytesOf(
  bytes: number,
  size: number,
  model: Pick<NetworkModel, 'gamma' | 'overhead'>,
  produceSeconds = packing * model.gamma * bytes,
): number {
  // Of an op's cost by itself: sending and receiving in 2 ceil(log2 P) steps at least.
  const overhead = model.overhead * 4 * Math.max(1, Math.ceil(Math.log2(Math.max(2, size))))
  const count = overhead > 0 ? Math.max(1, Math.round(Math.sqrt(produceSeconds / overhead))) : 1
  return clampBucketBytes(Math.ceil(bytes / count))
}

export function clampBucketBytes(bytes: number): number {
  return Math.min(maxBucketBytes, Math.max(minBucketBytes, bytes))
}

/** Bounds of the buckets of `count` elements: [begin, end) of each, all but the last of equal length. */
export function bucketsOf(
  count: number,
  elementBytes: number,
  bucketBytes: number,
): [begin: number, end: number][] {
  const length = Math.max(1, Math.floor(bucketBytes / elementBytes))
  return Array.from({ length: Math.ceil(count / length) }, (_, index) => [
    index * length,
    Math.min(count, (index + 1) * length),
  ])
}
