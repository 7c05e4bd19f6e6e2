/** The chunks of one rank, large: number, contributions, how many of them. */
import type { Picture } from '../drawing/Chart.tsx'
import { boxPath, type Mark, round } from '../drawing/marks.ts'
import type { StageRank } from '../timetable/data.ts'
import type { Holdings } from '../timetable/flow.ts'
import { countPaint, tickMark } from '../timetable/paintBuffers.ts'
import { cellLines } from '../timetable/words.ts'

export interface BufferStripData {
  readonly ranks: readonly StageRank[]
  readonly rank: number
  readonly chunks: number
  readonly holdings: Holdings
}

export function layoutBufferStrip(data: BufferStripData, width: number, scale = 1): Picture {
  const { ranks, rank, chunks, holdings } = data
  const size = ranks.length
  const gap = 4 * scale
  const narrowest = 34 * scale
  const fit = Math.max(1, Math.floor((width + gap) / (narrowest + gap)))
  const rows = Math.ceil(chunks / fit)
  const perRow = Math.ceil(chunks / Math.max(1, rows))
  const cell = Math.min(64 * scale, (width - gap * (perRow - 1)) / Math.max(1, perRow))
  const [head, foot] = [17 * scale, 18 * scale]
  const body = Math.max(size <= 8 ? size * 6 * scale : 0, 44 * scale)
  const pitch = head + body + foot + 8 * scale
  const marks: Mark[] = []
  const hits: Picture['hits'][number][] = []
  for (let chunk = 0; chunk < chunks; chunk++) {
    const x = round((chunk % perRow) * (cell + gap))
    const y = round(Math.floor(chunk / perRow) * pitch)
    const count = holdings.count(rank, chunk)
    const live = holdings.live(rank, chunk)
    const text = (words: string, at: number, strong: boolean): Mark => ({
      kind: 'text',
      x: round(x + cell / 2),
      y: round(at),
      text: words,
      size: 12.5 * scale,
      fill: strong ? 'ink' : 'ink-2',
      anchor: 'middle',
      mono: true,
      strong,
    })
    marks.push(text(String(chunk), y + 12 * scale, false))
    marks.push({
      kind: 'rect',
      x,
      y: y + head,
      width: round(cell),
      height: round(body),
      radius: 2,
      fill: 'panel',
      stroke: 'rule',
      line: 1,
    })
    marks.push(...fillMarks(data, chunk, x, y + head, cell, body))
    if (count === size) marks.push(tickMark(x + cell / 2 - 5 * scale, y + head + body + 10 * scale, scale))
    else marks.push(text(`${count}/${size}`, y + head + body + 14 * scale, count > 0 && live))
    hits.push({
      x: x + cell / 2,
      y: y + head + body / 2,
      width: cell,
      height: body,
      series: Math.floor(chunk / perRow),
      lines: cellLines(holdings, rank, chunk, ranks),
    })
  }
  return { width, height: rows * pitch, marks, hits }
}

/** Up to 8 ranks a sliver per contributor at its place; above, a level in the colour of the count. */
function fillMarks(
  { ranks, rank, holdings }: BufferStripData,
  chunk: number,
  x: number,
  y: number,
  width: number,
  height: number,
): Mark[] {
  const size = ranks.length
  const faint = holdings.live(rank, chunk) ? {} : { opacity: 0.25 }
  const inset = 2
  if (size <= 8) {
    const sliver = (height - 2 * inset) / size
    return ranks.flatMap(({ hue }, contributor): Mark[] =>
      holdings.has(rank, chunk, contributor)
        ? [
            {
              kind: 'path',
              d: boxPath(x + inset, y + inset + contributor * sliver, width - 2 * inset, sliver),
              fill: `rank-${hue % 8}`,
              ...faint,
            },
          ]
        : [],
    )
  }
  const count = holdings.count(rank, chunk)
  if (count === 0) return []
  const level = ((height - 2 * inset) * Math.log2(1 + count)) / Math.log2(1 + size)
  return [
    {
      kind: 'path',
      d: boxPath(x + inset, y + height - inset - level, width - 2 * inset, level),
      fill: countPaint(count, size),
      ...faint,
    },
  ]
}
