/** Per rank in real time: what it sent, what it received, when it had to wait and for whom; the prediction underneath. */
import type { TraceMessage } from '../../../../shared/collective/types.ts'
import type { Picture } from '../drawing/Chart.tsx'
import type { Hit } from '../drawing/hits.ts'
import { fitText, hatchPath, line, type Mark, round, textWidth } from '../drawing/marks.ts'
import { rankDisc } from '../drawing/rankDisc.ts'
import { linear, niceTicks } from '../drawing/scale.ts'
import { formatBytes, formatSeconds, formatTick, plural } from '../format.ts'
import type { StageRank } from '../timetable/data.ts'
import { labelWidth } from '../timetable/measures.ts'
import { cumulative } from '../timetable/time.ts'
import { rankWords } from '../timetable/words.ts'
import { criticalPath, lanesOf, type Wait, waitsOf } from './waits.ts'

export interface GanttData {
  readonly ranks: readonly StageRank[]
  /** Per rank, in seconds since the start of the op on a common clock; undefined where nothing is known. */
  readonly messages: readonly (readonly TraceMessage[] | undefined)[]
  /** Predicted seconds of each step. */
  readonly predicted?: readonly number[] | undefined
}

export interface GanttPicture extends Picture {
  /** Where second 0 and the last second are, px. */
  readonly axis: { readonly left: number; readonly right: number; readonly top: number; readonly end: number }
}

/** The line at the moment of playback. */
export function ganttCursor({ axis, height }: GanttPicture, seconds: number): Mark[] {
  const x = linear(0, axis.end, axis.left, axis.right)(Math.min(axis.end, Math.max(0, seconds)))
  return [line(x, axis.top - 4, x, height, { stroke: 'accent', line: 1.5 })]
}

interface Frame {
  readonly left: number
  readonly rowHeight: number
  readonly scale: number
  readonly x: (seconds: number) => number
  readonly critical: ReadonlySet<string>
}

function key(from: number, to: number, step: number): string {
  return `${from} ${to} ${step}`
}

function bars(
  data: GanttData,
  rank: number,
  direction: 'send' | 'receive',
  y: number,
  height: number,
  frame: Frame,
): { marks: Mark[]; hits: Hit[] } {
  const { ranks } = data
  const placed = lanesOf((data.messages[rank] ?? []).filter((m) => m.direction === direction))
  const lanes = Math.max(1, ...placed.map(({ lane }) => lane + 1))
  const each = height / lanes
  const marks: Mark[] = []
  const hits: Hit[] = []
  for (const { message, lane } of placed) {
    const sender = direction === 'send' ? rank : message.peer
    const receiver = direction === 'send' ? message.peer : rank
    const hue = (ranks[sender]?.hue ?? sender) % 8
    const [x0, x1] = [frame.x(message.begin), frame.x(message.end)]
    const width = Math.max(1.5, x1 - x0)
    const top = y + lane * each
    const onPath = frame.critical.has(key(sender, receiver, message.step))
    marks.push({
      kind: 'rect',
      x: round(x0),
      y: round(top),
      width: round(width),
      height: round(Math.max(1.5, each - 1)),
      fill: `rank-${hue}`,
      ...(onPath ? { stroke: 'ink', line: 2 } : {}),
    })
    const text = direction === 'send' ? `→${message.peer}` : `${message.peer}→`
    const size = Math.min(11.5 * frame.scale, each - 2)
    if (size >= 9 && textWidth(text, size, true) + 4 <= width)
      marks.push({
        kind: 'text',
        x: round(x0 + width / 2),
        y: round(top + (each - 1) / 2 + size * 0.36),
        text,
        size: round(size),
        fill: `on-rank-${hue}`,
        anchor: 'middle',
        mono: true,
      })
    hits.push({
      x: x0 + width / 2,
      y: top + each / 2,
      width: Math.max(8, width),
      height: each,
      series: rank * 2 + (direction === 'send' ? 0 : 1),
      lines: [
        `Step ${message.step + 1}: ${rankWords(ranks, rank)} ${direction === 'send' ? 'sends to' : 'receives from'} ${rankWords(ranks, message.peer)}`,
        `${formatBytes(message.bytes)} from ${formatSeconds(message.begin)} to ${formatSeconds(message.end)}, ${formatSeconds(message.end - message.begin)}`,
        ...(onPath ? ['on the critical path'] : []),
      ],
    })
  }
  return { marks, hits }
}

function waitingMarks(
  data: GanttData,
  rank: number,
  y: number,
  height: number,
  frame: Frame,
): { marks: Mark[]; hits: Hit[] } {
  const waits = waitsOf(rank, data.messages[rank] ?? []).filter(
    (wait) => frame.x(wait.end) - frame.x(wait.begin) >= 1.5,
  )
  const marks = waits.flatMap((wait): Mark[] => {
    const [x0, x1] = [frame.x(wait.begin), frame.x(wait.end)]
    const text = fitText(
      `waits for ${wait.peers.map((peer) => data.ranks[peer]?.name || peer).join(', ')}`,
      11.5 * frame.scale,
      x1 - x0 - 8,
    )
    return [
      { kind: 'path', d: hatchPath(x0, y, x1 - x0, height, 5), fill: 'none', stroke: 'warn', line: 1 },
      ...(text.length < 4 || height < 12
        ? []
        : [
            {
              kind: 'text' as const,
              x: round((x0 + x1) / 2),
              y: round(y + height / 2 + 4 * frame.scale),
              text,
              size: 11.5 * frame.scale,
              fill: 'ink',
              anchor: 'middle' as const,
              halo: 'ground',
            },
          ]),
    ]
  })
  const hits = waits.map((wait) => ({
    x: (frame.x(wait.begin) + frame.x(wait.end)) / 2,
    y: y + height / 2,
    width: Math.max(8, frame.x(wait.end) - frame.x(wait.begin)),
    height,
    series: rank * 2 + 1,
    lines: [
      `${rankWords(data.ranks, rank)} waits for ${wait.peers.map((peer) => rankWords(data.ranks, peer)).join(', ')}`,
      `step ${wait.step + 1}, ${formatSeconds(wait.end - wait.begin)}`,
    ],
  }))
  return { marks, hits }
}

function predictedMarks(boundaries: readonly number[], y: number, frame: Frame): Mark[] {
  return boundaries.slice(1).map((end, step) => {
    const x0 = frame.x(boundaries[step] ?? 0)
    return {
      kind: 'rect',
      x: round(x0 + 0.5),
      y: round(y),
      width: round(Math.max(1, frame.x(end) - x0 - 1)),
      height: 4 * frame.scale,
      fill: step % 2 === 0 ? 'hairline' : 'sunk',
      stroke: 'rule',
      line: 0.75,
    }
  })
}

function rowHeightOf(size: number): number {
  return size <= 8 ? 58 : size <= 16 ? 38 : size <= 32 ? 22 : 15
}

export function layoutGantt(data: GanttData, width: number, scale = 1): GanttPicture {
  const { ranks, messages, predicted } = data
  const boundaries = predicted ? cumulative(predicted) : []
  const times = messages.flatMap((trace) => trace ?? []).map((message) => message.end)
  const end = Math.max(1e-6, boundaries.at(-1) ?? 0, ...times)
  const left = labelWidth(ranks, width, scale)
  const top = 24 * scale
  const rowHeight = rowHeightOf(ranks.length) * scale
  const right = width - 12 * scale
  const x = linear(0, end, left, right)
  const critical = new Set(criticalPath(messages).map((m) => key(m.from, m.to, m.step)))
  const frame: Frame = { left, rowHeight, scale, x, critical }
  const height = top + ranks.length * rowHeight + 4
  const marks: Mark[] = niceTicks(0, end, Math.max(2, (width - left) / (96 * scale))).flatMap(
    (tick): Mark[] => [
      line(x(tick), top - 4, x(tick), height, { stroke: 'hairline', line: 1 }),
      {
        kind: 'text',
        x: round(x(tick)),
        y: round(top - 8),
        text: formatTick(tick),
        size: 12 * scale,
        fill: 'ink-2',
        anchor: tick === 0 ? 'start' : 'middle',
        mono: true,
      },
    ],
  )
  const hits: Hit[] = []
  ranks.forEach(({ name, hue, here }, rank) => {
    const y = top + rank * rowHeight
    const ghost = boundaries.length > 0 && rowHeight >= 20 * scale ? 6 * scale : 0
    const lane = (rowHeight - ghost - 6 * scale) / 2
    marks.push(...rowLabel(rank, name, hue, here, y + rowHeight / 2, frame))
    const wait = waitingMarks(data, rank, y + 2 * scale, 2 * lane, frame)
    const sends = bars(data, rank, 'send', y + 2 * scale, lane, frame)
    const receives = bars(data, rank, 'receive', y + 2 * scale + lane, lane, frame)
    marks.push(...wait.marks, ...sends.marks, ...receives.marks)
    hits.push(...wait.hits, ...sends.hits, ...receives.hits)
    if (ghost > 0) marks.push(...predictedMarks(boundaries, y + rowHeight - ghost - 1, frame))
    marks.push(line(left, y + rowHeight, width, y + rowHeight, { stroke: 'hairline', line: 1 }))
  })
  return { width, height, marks, hits, axis: { left, right, top, end } }
}

function rowLabel(
  rank: number,
  name: string,
  hue: number,
  here: boolean,
  y: number,
  { left, rowHeight, scale }: Frame,
): Mark[] {
  const r = Math.min(10 * scale, rowHeight * 0.4)
  const size = Math.min(14 * scale, rowHeight - 2)
  return [
    ...rankDisc(rank, hue, 20 * scale, y, r),
    ...(left < 60 * scale
      ? []
      : [
          {
            kind: 'text' as const,
            x: 36 * scale,
            y: round(y + size * 0.35),
            text: fitText(name, size, left - 40 * scale),
            size: round(size),
            fill: 'ink',
            strong: here,
          },
        ]),
  ]
}

/** One paragraph about the run. */
export function ganttSummary(data: GanttData): string {
  const { ranks, messages } = data
  const all = messages.flatMap((trace) => trace ?? [])
  if (all.length === 0) return 'No messages were recorded.'
  const end = Math.max(...all.map((message) => message.end))
  const waits = messages.flatMap((trace, rank) => waitsOf(rank, trace ?? []))
  const longest = waits.reduce<Wait | undefined>(
    (best, wait) => (best === undefined || wait.end - wait.begin > best.end - best.begin ? wait : best),
    undefined,
  )
  const path = criticalPath(messages).reverse()
  return [
    `${plural(ranks.length, 'rank')} in real time, ${formatSeconds(end)} in total.`,
    longest === undefined
      ? 'Nobody waited.'
      : `Longest wait: ${rankWords(ranks, longest.rank)} for ${longest.peers.map((p) => rankWords(ranks, p)).join(', ')} in step ${longest.step + 1}, ${formatSeconds(longest.end - longest.begin)}.`,
    path.length === 0
      ? ''
      : `Critical path: ${path.map((m) => `${m.from} → ${m.to} (step ${m.step + 1})`).join(', ')}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}
