/** Who has how many samples of which class: a row for each peer, a square for each class, as large as its part. */
import type { Picture } from '../stage/drawing/Chart.tsx'
import type { Hit } from '../stage/drawing/hits.ts'
import { fitText, type Mark, round, textWidth } from '../stage/drawing/marks.ts'

export interface SplitRow {
  readonly name: string
  readonly hue: number
  /** Samples of each class. */
  readonly counts: readonly number[]
  /** It has left, or nobody has come for it yet. */
  readonly isAway?: boolean
}

export interface SplitData {
  readonly rows: readonly SplitRow[]
  readonly classes: readonly string[]
}

export function layoutSplit({ rows, classes }: SplitData, width: number, scale = 1): Picture {
  const size = 12.5 * scale
  const names = Math.min(120 * scale, width * 0.3)
  const sums = 44 * scale
  const widest = Math.max(0, ...classes.map((name) => textWidth(name, size)))
  const cell = Math.min(
    Math.max(30 * scale, widest + 10 * scale),
    (width - names - sums) / Math.max(1, classes.length),
  )
  const columns = cell * classes.length
  const rowHeight = Math.max(20 * scale, Math.min(cell, 26 * scale))
  const top = 20 * scale
  const largest = Math.max(1, ...rows.flatMap(({ counts }) => counts))
  const most = Math.min(cell, rowHeight) - 3
  const marks: Mark[] = classes.map((name, i) => ({
    kind: 'text',
    x: round(names + (i + 0.5) * cell),
    y: round(top - 7 * scale),
    text: fitText(name, size, cell * 1.1),
    size,
    fill: 'ink-2',
    anchor: 'middle',
  }))
  const hits: Hit[] = []
  for (const [i, { name, hue, counts, isAway }] of rows.entries()) {
    const middle = top + (i + 0.5) * rowHeight
    const total = counts.reduce((sum, count) => sum + count, 0)
    const faint = isAway ? { opacity: 0.35 } : {}
    marks.push(
      {
        kind: 'text',
        x: 0,
        y: round(middle + 4 * scale),
        text: fitText(name, size, names - 8 * scale),
        size,
        fill: isAway ? 'ink-2' : 'ink',
      },
      {
        kind: 'text',
        x: round(names + columns + sums),
        y: round(middle + 4 * scale),
        text: String(total),
        size,
        fill: 'ink-2',
        anchor: 'end',
        mono: true,
      },
    )
    for (const [label, count] of counts.entries()) {
      const [x, edge] = [names + (label + 0.5) * cell, most * Math.sqrt(count / largest)]
      if (count > 0)
        marks.push({
          kind: 'rect',
          x: round(x - edge / 2),
          y: round(middle - edge / 2),
          width: round(edge),
          height: round(edge),
          fill: `rank-${hue % 8}`,
          ...faint,
        })
      else marks.push({ kind: 'circle', x: round(x), y: round(middle), r: 1, fill: 'rule' })
      hits.push({
        x,
        y: middle,
        width: cell,
        height: rowHeight,
        series: i,
        lines: [`${name}${isAway ? ' (not here)' : ''}`, `${classes[label]}: ${count} of ${total} samples`],
      })
    }
  }
  return {
    width: Math.min(width, names + columns + sums + 2),
    height: round(top + rows.length * rowHeight + 4),
    marks,
    hits,
  }
}

/** Classes that are more than half of what an even share would be. */
export function mainClasses(counts: readonly number[], classes: readonly string[]): readonly string[] {
  const total = counts.reduce((sum, count) => sum + count, 0)
  return classes.filter((_, i) => counts[i]! > (0.5 * total) / classes.length)
}

export function splitSummary({ rows, classes }: SplitData): string {
  return rows
    .map(({ name, counts, isAway }) => {
      const total = counts.reduce((sum, count) => sum + count, 0)
      const main = mainClasses(counts, classes)
      const which = main.length === classes.length ? 'of all classes' : `mostly ${main.join(', ')}`
      return `${name}${isAway ? ' (not here)' : ''}: ${total} samples, ${which}.`
    })
    .join(' ')
}
