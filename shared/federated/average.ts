/**
 * Averages of named tensors over a group. Three phases, each the same on all ranks: a meeting compares names, types and shapes and tells the
 * samples; the data travel in buckets, several in flight; a check compares what every rank holds in the end.
 */
import { NonFiniteError, type PeerName } from '../base/errors.ts'
import type { CollectiveOptions, Group, NonFinitePolicy, Report } from '../collective/types.ts'
import type { Wire } from '../wire/codec.ts'
import { countNonFinite } from '../wire/finite.ts'
import { createHasher } from '../wire/hash.ts'
import { agreeOnHash, meetAbout } from './agree.ts'
import { bundlesOf, divideBundle, unpackBundles } from './bundles.ts'
import { foldBundles, proposeBucketBytes } from './fold.ts'
import { manifestOf } from './manifest.ts'
import { type CallOptions, type Place, untilSettled } from './meeting.ts'
import { type Entry, entriesOf, type NamedTensors, typeOfValues, type Values } from './tensors.ts'
import { assertSamples, type Contribution, contributionsOf, weightsOf } from './weights.ts'

export interface AverageOptions extends CallOptions {
  /** What this rank counts for: its number of samples, 0 or more. Default 1 on each rank: the plain mean. */
  readonly samples?: number
  /** Default 'error'. */
  readonly nonFinite?: NonFinitePolicy
  /** Bytes of one bucket. Default: by the measured network, agreed on by all ranks. */
  readonly bucketBytes?: number
  /** Averages of 32-bit floats may travel in fewer bits: f16, bf16 or q8 (docs/numbers.md). */
  readonly wire?: Wire
  /**
   * Among exactly these members or not at all: an EpochError on all when they have changed. For what belongs to a meeting, as in
   * GradientOptions.onMembers.
   */
  readonly within?: Place
  readonly algorithm?: CollectiveOptions['algorithm']
  readonly onProgress?: CollectiveOptions['onProgress']
}

export interface AverageReport {
  /** Whose data is in the result and for how much, in rank order. */
  readonly contributors: readonly Contribution[]
  /** Ranks that were dropped because of NaN or infinities. */
  readonly dropped: readonly PeerName[]
  /** Fingerprint of the averaged tensors; every rank has said that it has the same. Tensors with policy `keep` are left out. */
  readonly hash: string
  readonly epoch: number
  /** Numbers of the ops that carried the data. */
  readonly ops: readonly number[]
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Seconds of the slowest op, from its call to its end. */
  readonly seconds: number
  /** One report for each bucket. */
  readonly buckets: readonly Report[]
}

export interface Averaged {
  readonly tensors: Readonly<Record<string, Values>>
  readonly report: AverageReport
}

/**
 * Every rank gets the average of every rank's tensors, weighted by samples: sum(samples * x) / sum(samples), the same bits everywhere. The
 * input is only read. All ranks call it with the same names, types, shapes and options.
 *
 * @throws {MismatchError} names, types, shapes, policies or options differ; the message lists what and on which rank.
 * @throws {NoSamplesError} no rank has samples.
 * @throws {NonFiniteError} a rank has NaN or infinities, and nonFinite is 'error'.
 */
export async function averageTensors(
  named: NamedTensors,
  group: Group,
  options: AverageOptions = {},
): Promise<Averaged> {
  const { samples = 1, nonFinite = 'error', wire = 'f32', within, timeoutMs, signal } = options
  assertSamples(samples)
  const entries = entriesOf(named)
  const manifest = manifestOf(entries, { nonFinite, wire })
  const call: CallOptions = { ...(timeoutMs !== undefined && { timeoutMs }), ...(signal && { signal }) }
  const bundles = bundlesOf(entries)
  const averaged = entries.filter(({ policy }) => policy !== 'keep')
  const bad = averaged.reduce((sum, { data }) => sum + countNonFinite(data, typeOfValues(data)), 0)
  const proposal = options.bucketBytes ?? proposeBucketBytes(group, bundles)
  return untilSettled(async () => {
    const about = { name: 'average', what: 'tensors', manifest }
    const meeting = await meetAbout(group, about, [samples, bad, proposal], call, within)
    const rows = meeting.present.map(({ peer, record }) => ({
      peer,
      samples: record[0]!,
      bad: record[1]!,
    }))
    const badRows = rows.filter((row) => row.bad !== 0)
    const badPeers = badRows.map(({ peer }) => peer)
    if (badRows.length > 0 && nonFinite === 'error')
      throw new NonFiniteError(badPeers, Object.fromEntries(badRows.map((row) => [row.peer.rank, row.bad])))
    const dropped = nonFinite === 'drop-rank' ? badPeers : []
    const contributors = contributionsOf(rows.filter(({ peer }) => !dropped.includes(peer)))
    const counted = new Map(contributors.map((row) => [row.peer.peerId, row.samples]))
    const { own: weight, total } = weightsOf(counted, group.peerId)
    const { vectors, buckets } = await foldBundles(group, bundles, {
      ...call,
      ...(options.algorithm !== undefined && { algorithm: options.algorithm }),
      ...(options.onProgress && { onProgress: options.onProgress }),
      entries,
      weight,
      wire,
      epoch: meeting.epoch,
      bucketBytes: meeting.present[0]!.record[2]!,
    })
    // A member that was lost on the way is in some buckets only: once more, without it.
    if (buckets.some((report) => report.contributors.length !== rows.length)) return undefined
    for (const [index, bundle] of bundles.entries()) divideBundle(bundle, vectors[index]!, total)
    const result = unpackBundles(bundles, vectors, entries)
    const hash = hashOf(entries, result)
    await agreeOnHash(group, hash, meeting, call)
    const added = (of: (report: Report) => number) => buckets.reduce((sum, report) => sum + of(report), 0)
    return {
      tensors: Object.fromEntries(result),
      report: {
        contributors,
        dropped,
        hash,
        epoch: meeting.epoch,
        ops: buckets.map(({ op }) => op),
        bytesSent: added(({ bytesSent }) => bytesSent),
        bytesReceived: added(({ bytesReceived }) => bytesReceived),
        seconds: Math.max(0, ...buckets.map(({ seconds }) => seconds)),
        buckets,
      },
    }
  }, within)
}

/** Of all tensors that are the same on every rank. */
export function hashOf(entries: readonly Entry[], values: ReadonlyMap<string, Values>): string {
  const hasher = createHasher()
  for (const { name, policy } of entries) if (policy !== 'keep') hasher.add(values.get(name)!)
  return hasher.digest()
}
