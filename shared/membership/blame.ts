/** Who is to blame when members say that they cannot reach each other. */
import type { Complaint } from './roomTypes.ts'
import type { BlockedPair } from './types.ts'

/**
 * A member that is connected to the server is put out only when more than half of the other members cannot reach it.
 * Whoever complains of more than half of the others is taken for the cause and does not count; so of two members
 * neither is to blame, and it always takes two witnesses.
 */
export function condemned(complaints: readonly Complaint[], about: string, size: number): boolean {
  const others = size - 1
  const count = (by: string) => complaints.filter((complaint) => complaint.by === by).length
  const credible = complaints.filter(
    (complaint) => complaint.about === about && count(complaint.by) * 2 <= others,
  )
  return credible.length * 2 > others
}

const isOf = ({ by, about }: Complaint, a: string, b: string) =>
  (by === a && about === b) || (by === b && about === a)

/**
 * Once: what was complained of already stays as it was, confirmed or not. But whoever lost an open link in an epoch in which the pair was known
 * to have none (`knew`: the epoch of the complainant) tells of another link than the one that was complained of, and of another loss.
 */
export function addComplaint(
  complaints: readonly Complaint[],
  {
    wasOpen,
    knew,
    ...added
  }: Omit<Complaint, 'isPending' | 'isConfirmed'> & { wasOpen: boolean; knew: number },
): readonly Complaint[] {
  const ofPair = complaints.filter((complaint) => isOf(complaint, added.by, added.about))
  const earlier = ofPair.find(({ by }) => by === added.by)
  const isNew = wasOpen && ofPair.every(({ at }) => knew > at)
  if (earlier && !isNew) return complaints
  const complaint = { ...added, isPending: isNew, isConfirmed: earlier?.isConfirmed ?? false }
  return [...complaints.filter((other) => other !== earlier), complaint]
}

/** The accused is alive: what its pairs have lost is known now, whichever side tells of it next. */
export function confirm(complaints: readonly Complaint[], accused: string): readonly Complaint[] {
  const settled = complaints.filter(({ about }) => about === accused)
  return complaints.map((complaint) => {
    const { by, about, isConfirmed } = complaint
    if (!settled.some((other) => isOf(other, by, about))) return complaint
    return { ...complaint, isPending: false, isConfirmed: isConfirmed || about === accused }
  })
}

/** A link that works ends the complaints of both sides. */
export function dropPair(complaints: readonly Complaint[], a: string, b: string): readonly Complaint[] {
  return complaints.filter((complaint) => !isOf(complaint, a, b))
}

/** Each pair once, with what was said first. A complaint counts when the accused has shown that it is alive. */
export function blockedPairs(complaints: readonly Complaint[]): readonly BlockedPair[] {
  return [...pairsOf(complaints).values()]
}

/**
 * What a pair of living members had on the way is lost: the pair has no link any more, or has lost one (and may have another by now) that was
 * waiting for the accused to be heard.
 */
export function hasLoss(before: readonly Complaint[], after: readonly Complaint[]): boolean {
  const known = pairsOf(before)
  const isSettled = ({ by, about, isPending }: Complaint) =>
    isPending && !after.some((complaint) => complaint.isPending && isOf(complaint, by, about))
  return [...pairsOf(after).keys()].some((key) => !known.has(key)) || before.some(isSettled)
}

function pairsOf(complaints: readonly Complaint[]): ReadonlyMap<string, BlockedPair> {
  const pairs = new Map<string, BlockedPair>()
  for (const { by, about, reason, isConfirmed } of complaints) {
    const key = by < about ? `${by} ${about}` : `${about} ${by}`
    if (isConfirmed && !pairs.has(key)) pairs.set(key, { a: by, b: about, reason })
  }
  return pairs
}
