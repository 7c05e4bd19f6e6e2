/** Heights and widths that both axes share. Pixels at scale 1 unless a scale is given. */
import type { Schedule } from '../../../../shared/schedule/types.ts'
import { clamp } from '../drawing/scale.ts'
import type { Column, StageRank, Stroke, TimetableSize } from './data.ts'
import { type Message, messageBytes } from './flow.ts'
import { type Spans, spanKey } from './time.ts'

/** Narrower than this the names go and the numbers stay. */
const phone = 480

export function scaleOf(size: TimetableSize): number {
  return size.scale ?? 1
}

/** Room for the names of the stations. */
export function labelWidth(ranks: readonly StageRank[], width: number, scale = 1): number {
  if (width < phone * scale) return Math.round(34 * scale)
  const longest = Math.max(0, ...ranks.map((rank) => rank.name.length))
  return Math.round(clamp(50 + longest * 8, 72, 176) * scale)
}

function usualRowHeight(size: number, width: number): number {
  const small = width < phone
  if (size <= 3) return small ? 60 : 72
  if (size <= 8) return small ? 44 : width >= 1500 ? 64 : 54
  if (size <= 16) return small ? 28 : 34
  if (size <= 32) return small ? 16 : 20
  return 13
}

export function rowHeightOf(ranks: number, size: TimetableSize): number {
  const scale = scaleOf(size)
  const usual = usualRowHeight(ranks, size.width / scale) * scale
  if (size.height === undefined) return usual
  return clamp((size.height - 94 * scale) / ranks, 12 * scale, usual * 1.6)
}

export function rowsOf(ranks: number, rowHeight: number): number[] {
  return Array.from({ length: ranks }, (_, rank) => 4 + rowHeight * (rank + 0.5))
}

/** A buffer shows `chunks` cells; up to 8 ranks each cell has one sliver per contributor. */
export function bufferSizeOf(
  { size: ranks, chunks }: Pick<Schedule, 'size' | 'chunks'>,
  rowHeight: number,
  size: TimetableSize,
): readonly [width: number, height: number] {
  const scale = scaleOf(size)
  const narrow = size.width < phone * scale
  const cell = clamp((narrow ? 44 : 64) / chunks, 1, ranks <= 8 ? 9 : 4)
  const width = Math.max(ranks <= 8 ? 22 : 16, Math.round(cell * chunks)) * scale
  const sliver = Math.max(2, Math.floor((rowHeight * 0.64) / ranks))
  const height = ranks <= 8 ? ranks * Math.min(sliver, 12 * scale) : Math.max(6, rowHeight * 0.5)
  return [width, Math.min(height, rowHeight * 0.75)]
}

/** What the header says of a step. */
export function columnFacts(
  messages: readonly Message[],
  schedule: Schedule,
  bytes: number,
): Pick<Column, 'kind' | 'chunks' | 'bytes'> {
  const counts = messages.map((message) => message.chunks.length)
  return {
    kind: messages.some((message) => message.kind === 'reduce') ? 'reduce' : 'copy',
    chunks: [counts.length > 0 ? Math.min(...counts) : 0, Math.max(0, ...counts)],
    bytes: Math.max(0, ...messages.map((message) => messageBytes(schedule, bytes, message))),
  }
}

/** log of the share of the vector: one chunk of 1 / P is thinnest, the whole vector widest. */
function lineWidth(share: number, ranks: number, widest: number): number {
  const thinnest = Math.min(1.4, widest * 0.5)
  if (share <= 0 || ranks < 2) return thinnest
  return thinnest + (widest - thinnest) * clamp(1 + Math.log2(share) / Math.log2(ranks), 0, 1)
}

/** What a stroke is, apart from where it runs: size, width, and times where they were measured. */
export function strokeFacts(
  message: Message,
  schedule: Schedule,
  bytes: number,
  widest: number,
  spans: Spans,
): Omit<Stroke, 'points'> {
  const share = messageBytes(schedule, 1, message)
  const span = spans.get(spanKey(message))
  return {
    ...message,
    bytes: share * bytes,
    line: lineWidth(share, schedule.size, widest),
    ...(span === undefined ? {} : { begin: span[0], end: span[1] }),
  }
}
