/** What a rank holds, as marks. */
import { boxPath, linePath, type Mark, round } from '../drawing/marks.ts'
import { hues } from '../drawing/rankDisc.ts'
import type { Box, StageRank, TimetableLayout } from './data.ts'
import type { Holdings } from './flow.ts'

/**
 * A buffer: one cell per chunk. Up to 8 ranks a cell has one sliver per contributor, at the contributor's place and in its
 * hue; above, the cell's colour counts the contributions. What was given away is pale.
 */
export function bufferMarks(
  layout: Pick<TimetableLayout, 'size' | 'chunks' | 'bufferWidth' | 'bufferHeight'>,
  box: Pick<Box, 'rank' | 'x' | 'y'>,
  holdings: Holdings,
  ranks: readonly StageRank[],
): Mark[] {
  const { size, chunks, bufferWidth: width, bufferHeight: height } = layout
  const { rank, x, y } = box
  const cell = width / chunks
  const space = cell >= 5 ? 1 : 0
  const pieces = new Map<string, string>()
  const add = (paint: string, live: boolean, path: string) => {
    const key = `${live ? 1 : 0.25} ${paint}`
    pieces.set(key, (pieces.get(key) ?? '') + path)
  }
  for (let chunk = 0; chunk < chunks; chunk++) {
    const left = x + chunk * cell
    const live = holdings.live(rank, chunk)
    if (size <= hues) {
      const sliver = height / size
      for (let contributor = 0; contributor < size; contributor++)
        if (holdings.has(rank, chunk, contributor))
          add(
            `rank-${(ranks[contributor]?.hue ?? contributor) % hues}`,
            live,
            boxPath(left + space / 2, y + contributor * sliver, cell - space, sliver),
          )
    } else {
      const count = holdings.count(rank, chunk)
      if (count > 0) add(countPaint(count, size), live, boxPath(left, y, cell, height))
    }
  }
  return [
    {
      kind: 'rect',
      x: round(x - 1.5),
      y: round(y - 1.5),
      width: round(width + 3),
      height: round(height + 3),
      radius: 1,
      fill: 'panel',
      stroke: 'rule',
      line: 1,
    },
    ...[...pieces].map(([key, d]): Mark => {
      const [opacity, paint] = key.split(' ')
      return {
        kind: 'path',
        d,
        fill: paint ?? 'ink',
        ...(opacity === '1' ? {} : { opacity: Number(opacity) }),
      }
    }),
  ]
}

/** Each doubling of the number of contributions is one step of the ramp. */
export function countPaint(count: number, size: number): string {
  const level = size < 2 ? 1 : Math.log2(Math.max(1, count)) / Math.log2(size)
  return `seq-${Math.min(5, Math.floor(level * 5 + 1e-9))}`
}

export function tickMark(x: number, y: number, scale: number): Mark {
  return {
    kind: 'path',
    d: linePath([
      [x, y],
      [x + 3.5 * scale, y + 4 * scale],
      [x + 10 * scale, y - 5 * scale],
    ]),
    fill: 'none',
    stroke: 'ok',
    line: 2 * scale,
    round: true,
  }
}

/** The rank holds every chunk with every contribution. */
export function isFull(
  holdings: Holdings,
  layout: Pick<TimetableLayout, 'size' | 'chunks'>,
  rank: number,
): boolean {
  for (let chunk = 0; chunk < layout.chunks; chunk++)
    if (holdings.count(rank, chunk) < layout.size) return false
  return true
}
