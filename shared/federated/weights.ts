/** Who counts for how much: decided from what all ranks told in a meeting, alike on all of them. */
import { ArgumentError, NoSamplesError, type PeerName } from '../base/errors.ts'

/** What becomes of a rank whose data has NaN or infinities: an error on all ranks, counted with weight 0, or used as it is. */
export type NonFinitePolicy = 'error' | 'drop-rank' | 'allow'

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
