/**
 * Secure aggregation (after Bonawitz et al. 2017, "Practical Secure Aggregation", without shares): every two members agree on a stream of random
 * words that one adds and the other subtracts, so that the masks vanish in the sum and nowhere else. The sums are integers modulo 2^32, in which
 * a masked value is uniformly random whatever is under it. A lost member leaves its masks behind: the op fails on all, and the survivors begin the
 * round again with fresh keys. What it protects against, and what not, is in docs/federated.md.
 */
import { UnsupportedError } from '../base/errors.ts'
import type { Aggregated, AggregatorInput } from './aggregate.ts'
import { gatherBytes, unlessLost } from './meeting.ts'
import type { Secrets } from './secrets.ts'
import { weightsOf } from './weights.ts'

/** With fewer, a member learns the other's update from the sum and its own. */
export const fewestForSecure = 3

/**
 * The largest power of two by which values up to `bound` can be multiplied so that the sum of `size` of them, each rounded, stays within
 * 31 bits and a sign.
 */
export function fixedPointScale(bound: number, size: number): number {
  if (!(bound > 0)) return 1
  return 2 ** Math.floor(Math.log2((2 ** 31 - 1 - size) / (size * bound)))
}

export async function aggregateSecurely(
  { group, place, call, update, samples, peak }: AggregatorInput,
  secrets: Secrets,
): Promise<Aggregated | undefined> {
  if (samples.size < fewestForSecure)
    throw new UnsupportedError(
      'secure aggregation',
      `Secure aggregation hides an update among others: it needs at least ${fewestForSecure} peers that count, not ${samples.size}.`,
    )
  const { members, epoch } = place
  const keys = await secrets.createKeyPair()
  const { present, report } = await gatherBytes(group, keys.publicKey, place, {
    ...call,
    name: 'round: keys',
  })
  if (present.length !== members.length) return undefined

  const { own: weight, total } = weightsOf(samples, group.peerId)
  const scale = fixedPointScale(peak, members.length)
  const vector = new Int32Array(update.length)
  for (let i = 0; i < vector.length; i++) vector[i] = Math.round(update[i]! * weight * scale)
  const self = members.findIndex(({ peerId }) => peerId === group.peerId)
  const others = present.filter(({ peer }) => peer.rank !== self)
  await Promise.all(
    others.map(async ({ peer, bytes }) => {
      const [low, high] = [Math.min(self, peer.rank), Math.max(self, peer.rank)].map(
        (rank) => members[rank]!.peerId,
      )
      const stream = await keys.stream(
        bytes.slice(),
        `papilio mask 1 ${epoch} ${low} ${high}`,
        vector.byteLength,
      )
      addMask(
        vector,
        new Int32Array(stream.buffer, stream.byteOffset, vector.length),
        self < peer.rank ? 1 : -1,
      )
    }),
  )
  // One op for all: parts that were summed with a member and parts that were summed without it would tell them apart.
  const options = { ...call, epoch, name: 'round: masked sum', op: 'sum', onPeerLost: 'abort' } as const
  const summed = await unlessLost(group.allreduce(vector, { ...options, into: vector }))
  if (!summed) return undefined
  const mean = new Float32Array(vector.length)
  for (let i = 0; i < mean.length; i++) mean[i] = vector[i]! / scale / total
  return { update: mean, reports: [report, summed.report] }
}

/** Sums of 32-bit integers are modulo 2^32 when they are stored. */
function addMask(vector: Int32Array, mask: Int32Array, sign: 1 | -1): void {
  if (sign > 0) for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! + mask[i]!
  else for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! - mask[i]!
}
