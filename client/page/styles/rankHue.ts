/** How a rank looks. Eight hues, then the same hues with another outline; the number is always printed beside it. */
export type ChipOutline = 'plain' | 'ring' | 'double-ring' | 'notch'

const outlines: readonly ChipOutline[] = ['plain', 'ring', 'double-ring', 'notch']
export const hueCount = 8

/** Colour of the rank, as a CSS value. */
export function rankHue(rank: number): string {
  return `var(--rank-${rank % hueCount})`
}

/** Colour of text on `rankHue(rank)`, as a CSS value. */
export function rankInk(rank: number): string {
  return `var(--on-rank-${rank % hueCount})`
}

export function rankOutline(rank: number): ChipOutline {
  return outlines[Math.floor(rank / hueCount) % outlines.length] ?? 'plain'
}
