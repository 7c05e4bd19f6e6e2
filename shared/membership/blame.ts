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

/** Once: what was complained of already stays as it was, confirmed or not. */
export function addComplaint(complaints: readonly Complaint[], added: Complaint): readonly Complaint[] {
  const isKnown = complaints.some(({ by, about }) => by === added.by && about === added.about)
  return isKnown ? complaints : [...complaints, added]
}

/** The accused is alive. */
export function confirm(complaints: readonly Complaint[], accused: string): readonly Complaint[] {
  return complaints.map((complaint) =>
    complaint.about === accused ? { ...complaint, isConfirmed: true } : complaint,
  )
}

/** A link that works ends the complaints of both sides. */
export function dropPair(complaints: readonly Complaint[], a: string, b: string): readonly Complaint[] {
  return complaints.filter(({ by, about }) => !((by === a && about === b) || (by === b && about === a)))
}

/** Each pair once, with what was said first. A complaint counts when the accused has shown that it is alive. */
export function blockedPairs(complaints: readonly Complaint[]): readonly BlockedPair[] {
  return [...pairsOf(complaints).values()]
}

/** A pair that had a link, as far as anybody said, has none now. */
export function hasNewPair(before: readonly Complaint[], after: readonly Complaint[]): boolean {
  const known = pairsOf(before)
  return [...pairsOf(after).keys()].some((key) => !known.has(key))
}

function pairsOf(complaints: readonly Complaint[]): ReadonlyMap<string, BlockedPair> {
  const pairs = new Map<string, BlockedPair>()
  for (const { by, about, reason, isConfirmed } of complaints) {
    const key = by < about ? `${by} ${about}` : `${about} ${by}`
    if (isConfirmed && !pairs.has(key)) pairs.set(key, { a: by, b: about, reason })
  }
  return pairs
}
