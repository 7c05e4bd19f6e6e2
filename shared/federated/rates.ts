/** Numbers that change from round to round, as plain data, so that all ranks can agree on them. */
import { ArgumentError } from '../base/errors.ts'

export type Rate =
  | number
  /** One for each round; the last one stays. */
  | readonly number[]
  /** Times `factor` after every `every` rounds. */
  | { readonly kind: 'steps'; readonly from: number; readonly factor: number; readonly every: number }
  /** Half a cosine from `from` down to `to` over `rounds` (Loshchilov and Hutter 2017, eq. 5, without restarts). */
  | { readonly kind: 'cosine'; readonly from: number; readonly to?: number; readonly rounds: number }
  /** In a line from 0 up to `rate` in `rounds` rounds, then as that says. */
  | { readonly kind: 'warm-up'; readonly rounds: number; readonly rate: Rate }

/** `round` counts from 0. */
export function rateAt(rate: Rate, round: number): number {
  if (typeof rate === 'number') return rate
  if (!('kind' in rate)) {
    if (rate.length === 0) throw new ArgumentError('rate', 'A list of rates needs at least one value.')
    return rate[Math.min(round, rate.length - 1)]!
  }
  switch (rate.kind) {
    case 'steps':
      return rate.from * rate.factor ** Math.floor(round / rate.every)
    case 'cosine': {
      const { from, to = 0, rounds } = rate
      return to + ((from - to) / 2) * (1 + Math.cos(Math.PI * Math.min(1, round / rounds)))
    }
    case 'warm-up':
      return rateAt(rate.rate, round) * Math.min(1, (round + 1) / rate.rounds)
  }
}
