/** Names of the stations and what the rows of the header mean, as marks. */
import { fitText, type Mark, round } from '../drawing/marks.ts'
import { hues, rankDisc } from '../drawing/rankDisc.ts'
import type { StageRank, TimetableLayout } from './data.ts'

/** Names of the stations. */
export function labelMarks(layout: TimetableLayout, ranks: readonly StageRank[], chosen?: number): Mark[] {
  const { left, rows, rowHeight, scale } = layout
  const size = Math.min(14.5 * scale, rowHeight - 1)
  const r = Math.min(10.5 * scale, rowHeight * 0.42)
  const named = left >= 60 * scale
  const every = Math.max(1, Math.ceil((11 * scale) / rowHeight))
  return rows.flatMap((y, rank) => {
    const { name, hue, here } = ranks[rank] ?? { name: '', hue: rank, here: false }
    if (rank % every !== 0 && !here && rank !== chosen) return []
    const x = 20 * scale
    const marks =
      rowHeight >= 26 * scale ? rankDisc(rank, hue, x, y, r) : smallNumber(rank, hue, x, y, rowHeight, scale)
    if (here) marks.push({ kind: 'rect', x: 1, y: y - r, width: 3 * scale, height: 2 * r, fill: 'accent' })
    if (named)
      marks.push({
        kind: 'text',
        x: round(x + Math.max(r, 9) + 8 * scale),
        y: round(y + size * 0.35),
        text: fitText(name, size, left - x - Math.max(r, 9) - 10 * scale),
        size: round(size),
        fill: 'ink',
        strong: here || rank === chosen,
      })
    return marks
  })
}

function smallNumber(
  rank: number,
  hue: number,
  x: number,
  y: number,
  rowHeight: number,
  scale: number,
): Mark[] {
  const size = Math.min(12 * scale, rowHeight - 1)
  return [
    {
      kind: 'rect',
      x: x - 13 * scale,
      y: round(y - rowHeight * 0.36),
      width: 4 * scale,
      height: round(rowHeight * 0.72),
      fill: `rank-${hue % hues}`,
    },
    {
      kind: 'text',
      x: x + 8 * scale,
      y: round(y + size * 0.35),
      text: String(rank),
      size: round(size),
      fill: 'ink',
      anchor: 'end',
      mono: true,
    },
  ]
}

/** What the rows of the header mean, beside them. */
export function cornerMarks(layout: TimetableLayout): Mark[] {
  const { left, top, scale, mode, ghosts } = layout
  if (mode !== 'time' || ghosts.length === 0 || left < 70 * scale) return []
  const word = (text: string, y: number): Mark => ({
    kind: 'text',
    x: round(left - 8 * scale),
    y: round(y),
    text,
    size: 12.5 * scale,
    fill: 'ink-2',
    anchor: 'end',
  })
  return [word('predicted', 27 * scale), word('measured', top - 8)]
}
