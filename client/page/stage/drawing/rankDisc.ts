import type { Mark } from './marks.ts'
import { round } from './marks.ts'

/** Hues of the palette; from rank 8 on they repeat with another outline. */
export const hues = 8

/** The number of a rank on a disc of its hue; from hue 8 on with a ring, two rings, a notch. */
export function rankDisc(rank: number, hue: number, x: number, y: number, r: number): Mark[] {
  const paint = `rank-${hue % hues}`
  const turn = Math.floor(hue / hues) % 4
  const rings = turn === 1 ? [2] : turn === 2 ? [2, 4] : []
  const marks: Mark[] = rings.map((d) => ({
    kind: 'circle',
    x,
    y,
    r: r + d - 0.5,
    fill: 'none',
    stroke: paint,
    line: 1,
  }))
  marks.push({ kind: 'circle', x, y, r: rings.length > 0 ? r - 0.5 : r, fill: paint })
  if (turn === 3)
    marks.push({ kind: 'rect', x: x - 1.5, y: y - r - 0.5, width: 3, height: 3, fill: 'ground' })
  const text = String(rank)
  const size = text.length === 1 ? r * 1.5 : text.length === 2 ? r * 1.2 : r * 0.9
  marks.push({
    kind: 'text',
    x,
    y: round(y + size * 0.35),
    text,
    size: round(size),
    fill: `on-rank-${hue % hues}`,
    anchor: 'middle',
    mono: true,
    strong: true,
  })
  return marks
}
