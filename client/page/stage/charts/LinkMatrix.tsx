import type { JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import type { Schedule } from '../../../../shared/schedule/types.ts'
import { Figure } from '../drawing/Figure.tsx'
import type { Drawing, Mark } from '../drawing/marks.ts'
import { hatchPath, round } from '../drawing/marks.ts'
import type { StageRank } from '../timetable/data.ts'
import {
  cellText,
  type LinkInfo,
  type LinkMetric,
  levelsOf,
  linkTable,
  linkWords,
  slowestWords,
  usedLinks,
} from './linkMatrix.ts'
import './linkMatrix.css'

export interface LinkMatrixProps {
  readonly ranks: readonly StageRank[]
  readonly links: readonly LinkInfo[]
  readonly metric: LinkMetric
  readonly onMetric: (metric: LinkMetric) => void
  /** Links that it does not send on are hatched. */
  readonly schedule?: Schedule | undefined
  /** The row or cell under the pointer or focus: to light up the strokes of that rank. */
  readonly onRank?: ((rank: number | undefined) => void) | undefined
}

const metrics: readonly (readonly [LinkMetric, string])[] = [
  ['rtt', 'RTT, ms'],
  ['rate', 'MB/s'],
  ['path', 'path'],
]

/** A table that is moved through with the arrow keys (ARIA Authoring Practices: data grid). */
const gridRole = { role: 'grid' } as const

/** A table of ranks by ranks; the colour follows the number, dark is fast. */
export function LinkMatrix(props: LinkMatrixProps): JSX.Element {
  const { ranks, links, metric, onMetric, schedule, onRank } = props
  const used = useMemo(() => schedule && usedLinks(schedule), [schedule])
  const byPair = useMemo(() => new Map(links.map((link) => [`${link.from} ${link.to}`, link])), [links])
  const level = useMemo(() => levelsOf(links, metric), [links, metric])
  const [at, setAt] = useState<readonly [number, number]>([0, Math.min(1, ranks.length - 1)])
  const grid = useRef<HTMLTableElement>(null)
  const summary = `Links between ${ranks.length} ranks, from rows to columns. ${slowestWords(links, ranks)}`
  const chosen = byPair.get(at.join(' '))

  const move = (row: number, column: number) => {
    const next = [clampRank(row, ranks.length), clampRank(column, ranks.length)] as const
    setAt(next)
    onRank?.(next[0])
    grid.current?.querySelector<HTMLElement>(`[data-row="${next[0]}"][data-column="${next[1]}"]`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const [row, column] = at
    const targets: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      Home: [row, 0],
      End: [row, ranks.length - 1],
      PageUp: [0, column],
      PageDown: [ranks.length - 1, column],
    }
    const target = targets[event.key]
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    move(target[0], target[1])
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <Figure
      title="Links"
      summary={summary}
      testId="link-matrix"
      fileName="papilio-links"
      table={() => linkTable(links, ranks, used)}
      drawing={() => matrixDrawing(props, level, used)}
      tools={metrics.map(([name, words]) => (
        <button type="button" key={name} aria-pressed={metric === name} onClick={() => onMetric(name)}>
          {words}
        </button>
      ))}
      footer={<p class="link-words">{chosen ? linkWords(chosen, ranks, isUsed(used, chosen)) : summary}</p>}
    >
      <div class="link-scroll">
        <table
          ref={grid}
          class="link-grid"
          {...gridRole}
          aria-label={summary}
          onKeyDown={onKeyDown}
          onPointerLeave={() => onRank?.(undefined)}
        >
          <thead>
            <tr>
              <th scope="col" class="link-corner">
                from ↓ to →
              </th>
              {ranks.map(({ peerId, name, hue }, rank) => (
                <th scope="col" key={peerId} title={name} class={`link-head link-hue-${hue % 8}`}>
                  {rank}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ranks.map(({ peerId, name, hue }, row) => (
              <tr key={peerId}>
                <th scope="row" class={`link-head link-hue-${hue % 8}`} title={name}>
                  <span class="link-rank">{row}</span> <span class="link-name">{name}</span>
                </th>
                {ranks.map((peer, column) => (
                  <Cell
                    key={peer.peerId}
                    row={row}
                    column={column}
                    link={byPair.get(`${row} ${column}`)}
                    metric={metric}
                    level={level}
                    used={used}
                    ranks={ranks}
                    focused={at[0] === row && at[1] === column}
                    onPoint={() => move(row, column)}
                    onOver={() => onRank?.(row)}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  )
}

function clampRank(rank: number, size: number): number {
  return Math.min(size - 1, Math.max(0, rank))
}

function isUsed(used: ReadonlySet<string> | undefined, link: LinkInfo): boolean {
  return used === undefined || used.has(`${link.from} ${link.to}`)
}

function Cell(props: {
  readonly row: number
  readonly column: number
  readonly link: LinkInfo | undefined
  readonly metric: LinkMetric
  readonly level: (link: LinkInfo) => number | undefined
  readonly used: ReadonlySet<string> | undefined
  readonly ranks: readonly StageRank[]
  readonly focused: boolean
  readonly onPoint: () => void
  readonly onOver: () => void
}): JSX.Element {
  const { row, column, link, metric, level, used, ranks, focused } = props
  const common = {
    role: 'gridcell' as const,
    tabIndex: focused ? 0 : -1,
    'data-row': row,
    'data-column': column,
    onClick: props.onPoint,
    onPointerEnter: props.onOver,
  }
  if (row === column)
    return (
      <td {...common} class="link-cell link-self" aria-label={`rank ${row} itself`}>
        ·
      </td>
    )
  const tone = link && level(link)
  const idle = link !== undefined && !isUsed(used, link)
  return (
    <td
      {...common}
      class={`link-cell ${tone === undefined ? '' : `link-level-${tone}`} ${idle ? 'link-idle' : ''}`}
      title={link && linkWords(link, ranks, !idle)}
      data-testid="link-cell"
      data-a={row}
      data-b={column}
      data-rtt-ms={link?.rtt === undefined ? undefined : round(link.rtt * 1e3)}
      data-mbps={link?.bytesPerSecond === undefined ? undefined : round(link.bytesPerSecond / 1e6)}
      data-path={link?.path}
    >
      <span>{cellText(link, metric)}</span>
    </td>
  )
}

/** The same matrix as a picture for the SVG file. */
function matrixDrawing(
  { ranks, links, metric }: LinkMatrixProps,
  level: (link: LinkInfo) => number | undefined,
  used: ReadonlySet<string> | undefined,
): Drawing {
  const [width, height, head] = [44, 26, 30]
  const label = (rank: number, x: number, y: number): Mark => ({
    kind: 'text',
    x,
    y,
    text: String(rank),
    size: 13,
    fill: 'ink',
    anchor: 'middle',
    mono: true,
    strong: true,
  })
  const marks = ranks.flatMap((_, rank) => [
    label(rank, head / 2, head + rank * height + 18),
    label(rank, head + rank * width + width / 2, 20),
  ])
  for (const link of links) {
    const [x, y] = [head + link.to * width, head + link.from * height]
    const tone = level(link)
    marks.push({
      kind: 'rect',
      x,
      y,
      width: width - 1,
      height: height - 1,
      fill: tone === undefined ? 'sunk' : `seq-${tone}`,
    })
    if (!isUsed(used, link))
      marks.push({
        kind: 'path',
        d: hatchPath(x, y, width - 1, height - 1, 6),
        fill: 'none',
        stroke: 'ground',
        line: 1.5,
      })
    marks.push({
      kind: 'text',
      x: x + width / 2,
      y: y + 17,
      text: cellText(link, metric),
      size: 12,
      fill: tone === undefined ? 'ink' : tone < 3 ? 'on-rank-1' : 'on-rank-6',
      anchor: 'middle',
      mono: true,
    })
  }
  return { width: head + ranks.length * width, height: head + ranks.length * height, marks }
}
