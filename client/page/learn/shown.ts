/** How peers look on the page of a lesson. */
import type { LearnRun } from '../../learn/state.ts'
import type { PageState } from './pageState.ts'
import type { SplitRow } from './splitLayout.ts'

/** Place in the rank palette: that of its samples while it learns, so that curve, samples and chip agree; else of its rank. */
export function hueOf(run: LearnRun | undefined, peerId: string, rank: number): number {
  return run?.pupils.find((pupil) => pupil.peerId === peerId)?.place ?? rank
}

/** Who has which hand of samples, or would have. */
export function splitRows(
  { learning: { run, members } }: PageState,
  hands: readonly (readonly number[])[],
  isPlan: boolean,
  planned: number,
): SplitRow[] {
  const counts = (place: number) => hands[place % hands.length]!
  if (run && !isPlan)
    return run.pupils.map(({ name, place, leftAfter }) => ({
      name,
      hue: place,
      counts: counts(place),
      ...(leftAfter !== undefined && { isAway: true }),
    }))
  const size = Math.max(members.length, planned)
  return Array.from({ length: size }, (_, place) => ({
    name: members[place]?.name ?? `Peer ${place}`,
    hue: place,
    counts: counts(place),
    ...(members[place] === undefined && { isAway: true }),
  }))
}
