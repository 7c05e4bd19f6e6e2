import type { Algorithm, Settings } from '../../shared/schedule/types.ts'

/** The operand order is fixed to that of the ranks, with these settings. */
export function keepsOrder(algorithm: Algorithm, size: number, settings: Settings): boolean {
  return algorithm.ordered?.(size, settings) ?? !algorithm.restrictions.commutative
}

/** At most `most` entries, evenly spread, with the first and the last. */
export function spread<T>(entries: readonly T[], most: number): T[] {
  if (entries.length <= most) return [...entries]
  return Array.from(
    { length: most },
    (_, at) => entries[Math.round((at * (entries.length - 1)) / (most - 1))]!,
  )
}

/** `butterfly {"r":1}` with 7 ranks: what a failing case is called. */
export function caseName({ collective, name }: Algorithm, size: number, settings: Settings): string {
  return `${collective} ${name} ${JSON.stringify(settings)} with ${size} ranks`
}
