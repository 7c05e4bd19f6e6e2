/** Where the vectors of a butterfly schedule stand: placements are group elements. */
import type { Family, Span, Window } from './family.ts'

/** Placements at which some vector of the spans stands, for any element of R; in descending order of digits. */
export function placementsOf(family: Family, window: Window, spans: readonly Span[]): number[] {
  if (window.axis > family.axis) return expand(family, family.axis, [{ lo: 0, hi: family.copies }], 1)
  const more = window.axis === family.axis ? family.copies - 1 : 0
  const widened = spans.map(({ lo, hi }) => ({ lo, hi: hi + more }))
  return expand(family, window.axis, widened, window.spacing)
}

/** The elements whose digit on `axis` is in one of the spans (modulo its length), with every tail. */
export function expand(family: Family, axis: number, spans: readonly Span[], spacing: number): number[] {
  if (family.axes.length === 0) return [0]
  const { stride, length } = family.axes[axis]!
  const tails = family.tails[axis]!
  /** Spans may overlap once they are widened by R. */
  const seen = spans.length > 1 ? new Set<number>() : undefined
  const elements: number[] = []
  for (const { lo, hi } of spans)
    for (let vector = Math.min(hi, lo + length) - 1; vector >= lo; vector--) {
      const digit = (vector * spacing) % length
      if (seen?.has(digit)) continue
      seen?.add(digit)
      for (const tail of tails) elements.push(digit * stride + tail)
    }
  return elements
}

/** Whether a value of this kind at placement p is part of the window, for any element of R. */
export function isLive(family: Family, window: Window, kind: number, p: number): boolean {
  const axis = Math.min(window.axis, family.axis)
  const { stride, length } = family.axes[axis]!
  if (p % stride !== 0) return false
  const digit = Math.floor(p / stride) % length
  const more = window.axis === family.axis ? family.copies - 1 : 0
  return window.runs.some((run) => {
    if (run.kind !== kind) return false
    if (window.axis > family.axis) return digit < family.copies
    const distance = (digit - run.lo * window.spacing + length) % length
    return distance % window.spacing === 0 && distance / window.spacing < run.hi - run.lo + more
  })
}
