/** Who counts for how much: decided from what all ranks told in a meeting, alike on all of them. */
import { ArgumentError, NoSamplesError, type PeerName } from '../base/errors.ts'

export interface Contribution {
  readonly peer: PeerName
  readonly samples: number
  /** Part of the average, 0 .. 1. */
  readonly share: number
}

export function assertSamples(samples: number): void {
  if (!(samples >= 0) || samples === Number.POSITIVE_INFINITY)
    throw new ArgumentError('samples', `Pass a finite number of samples, 0 or more, not ${samples}.`)
}

/** Shares of those that are not excluded. Throws on all ranks alike when nothing is left to average. */
export function contributionsOf(
  given: readonly { readonly peer: PeerName; readonly samples: number }[],
): Contribution[] {
  const total = given.reduce((sum, { samples }) => sum + samples, 0)
  if (total === 0) throw new NoSamplesError()
  return given.map(({ peer, samples }) => ({ peer, samples, share: samples / total }))
}

/**
 * What samples are divided by to be weights: at most 1, so that large numbers of samples cannot overflow; and with as few digits as can be (samples by
 * their greatest common divisor, and a power of two), so that equal numbers of samples cost no rounding, and whole data little.
 */
function weightUnit(samples: readonly number[]): number {
  const divisor = samples.every(Number.isSafeInteger) ? samples.reduce(greatestDivisor, 0) : 1
  return divisor * 2 ** Math.ceil(Math.log2(Math.max(...samples) / divisor))
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

/** The weight of one member, and that of all together. */
export function weightsOf(
  samples: ReadonlyMap<string, number>,
  peerId: string,
): { own: number; total: number } {
  const all = [...samples.values()]
  const unit = weightUnit(all)
  return { own: (samples.get(peerId) ?? 0) / unit, total: all.reduce((sum, value) => sum + value, 0) / unit }
}
