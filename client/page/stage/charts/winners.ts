/** Which candidate is predicted fastest for which sizes. */
import type { CurvePoint } from '../../../../shared/cost/types.ts'
import type { Measured } from './sweepLayout.ts'

export interface SizeCandidate {
  /** "r = 1", "ring". */
  readonly label: string
  /** Predicted; ascending in bytes, the same sizes for all candidates. */
  readonly points: readonly CurvePoint[]
  readonly measured?: readonly { readonly bytes: number; readonly measured: Measured }[] | undefined
  /** Drawn for comparison; auto never chooses it. */
  readonly baseline?: boolean | undefined
}

/** A range of sizes in which one candidate is predicted fastest. */
export interface Winner {
  readonly label: string
  readonly from: number
  readonly to: number
}

function crossing(a: CurvePoint[], b: CurvePoint[]): number {
  const [a0, a1, b0, b1] = [a[0], a[1], b[0], b[1]]
  if (!a0 || !a1 || !b0 || !b1) return 0
  // Both are straight between neighbouring sizes on log scales: where their difference is 0.
  const d0 = Math.log(b0.seconds / a0.seconds)
  const d1 = Math.log(b1.seconds / a1.seconds)
  const t = d0 === d1 ? 0.5 : Math.min(1, Math.max(0, d0 / (d0 - d1)))
  return Math.exp(Math.log(a0.bytes) + t * (Math.log(a1.bytes) - Math.log(a0.bytes)))
}

/** Who is predicted fastest for which sizes, ascending. Of two equal ones the first in the list. */
export function winnersOf(candidates: readonly SizeCandidate[]): Winner[] {
  const running = candidates.filter((candidate) => !candidate.baseline && candidate.points.length > 0)
  const sizes = running[0]?.points.map((point) => point.bytes) ?? []
  const at = (i: number) =>
    running.reduce<SizeCandidate | undefined>((best, candidate) => {
      const [time, least] = [candidate.points[i]?.seconds, best?.points[i]?.seconds]
      return time !== undefined && (least === undefined || time < least) ? candidate : best
    }, undefined)
  const winners: { label: string; from: number; to: number }[] = []
  let before: SizeCandidate | undefined
  sizes.forEach((bytes, i) => {
    const best = at(i)
    if (best === undefined) return
    const last = winners.at(-1)
    if (best === before && last) last.to = bytes
    else {
      const edge = before
        ? crossing([...before.points.slice(i - 1, i + 1)], [...best.points.slice(i - 1, i + 1)])
        : bytes
      if (last) last.to = edge
      winners.push({ label: best.label, from: edge, to: bytes })
    }
    before = best
  })
  return winners
}
