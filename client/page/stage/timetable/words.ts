/** Sentences and tables about a timetable: what screen readers and spreadsheets get. */

import type { Table } from '../drawing/table.ts'
import { formatBytes, formatList, formatSeconds, plural } from '../format.ts'
import type { Column, StageRank, Stroke, TimetableLayout } from './data.ts'
import type { Holdings } from './flow.ts'
import type { Hit } from './hit.ts'

export function rankWords(ranks: readonly StageRank[], rank: number): string {
  const name = ranks[rank]?.name
  return name ? `${name} (rank ${rank})` : `rank ${rank}`
}

export interface Times {
  readonly predicted?: number | undefined
  readonly measured?: number | undefined
}

/** From, to, chunks, bytes, predicted, measured. */
export function strokeLines(stroke: Stroke, ranks: readonly StageRank[], times: Times): string[] {
  const what = stroke.kind === 'reduce' ? 'to add' : 'to copy'
  const seconds = [
    times.predicted === undefined ? '' : `predicted ${formatSeconds(times.predicted)}`,
    times.measured === undefined ? '' : `measured ${formatSeconds(times.measured)}`,
  ].filter((word) => word !== '')
  return [
    `Step ${stroke.step + 1}: ${rankWords(ranks, stroke.from)} → ${rankWords(ranks, stroke.to)}`,
    `${stroke.chunks.length === 1 ? 'chunk' : 'chunks'} ${formatList(stroke.chunks)} ${what}, ${formatBytes(stroke.bytes)}`,
    ...(seconds.length > 0 ? [seconds.join(', ')] : []),
  ]
}

export function cellLines(
  holdings: Holdings,
  rank: number,
  chunk: number,
  ranks: readonly StageRank[],
): string[] {
  const size = ranks.length
  const who = ranks.map((_, i) => i).filter((i) => holdings.has(rank, chunk, i))
  const place = holdings.after === 0 ? 'at the start' : `after step ${holdings.after}`
  const content =
    who.length === 0
      ? 'nothing yet'
      : who.length === size
        ? `all ${size} contributions`
        : `${who.length} of ${size} contributions: ${formatList(who)}`
  const state = who.length > 0 && !holdings.live(rank, chunk) ? ', given away' : ''
  return [`${rankWords(ranks, rank)} ${place}`, `chunk ${chunk}: ${content}${state}`]
}

/** What the tooltip says. */
export function hitLines(
  hit: Hit,
  ranks: readonly StageRank[],
  holdings: readonly Holdings[],
  predicted: readonly number[] | undefined,
): string[] {
  if (hit.kind === 'stroke') {
    const { step, begin, end } = hit.stroke
    const measured = begin === undefined || end === undefined ? undefined : end - begin
    return strokeLines(hit.stroke, ranks, { predicted: predicted?.[step], measured })
  }
  const at = holdings[hit.after]
  return at === undefined ? [] : cellLines(at, hit.rank, hit.chunk, ranks)
}

function range([a, b]: readonly [number, number]): string {
  return a === b ? plural(b, 'chunk') : `${a} to ${b} chunks`
}

/** "Step 3 of 6: reduce, 1 chunk (146 KiB) per message". */
export function stepWords(layout: TimetableLayout, step: number): string {
  const column = layout.columns.find((c) => !c.ghost && c.step === step)
  if (layout.steps === 0) return 'Nothing to send'
  if (column === undefined)
    return `${layout.steps === 1 ? 'The step is' : `All ${layout.steps} steps are`} done${layout.mode === 'time' ? ` after ${formatSeconds(layout.end)}` : ''}`
  return `Step ${step + 1} of ${layout.steps}: ${column.kind}, ${columnWords(column)} per message`
}

function columnWords(column: Column): string {
  return `${range(column.chunks)} (${formatBytes(column.bytes)})`
}

/** One paragraph: what a person who cannot see the diagram must know. */
export function timetableSummary(
  layout: TimetableLayout,
  title: string,
  ranks: readonly StageRank[],
  full: boolean,
): string {
  const steps = layout.columns.filter((column) => !column.ghost)
  const ghosts = layout.columns.length - steps.length
  const reduces = steps.filter((column) => column.kind === 'reduce').length
  const copies = steps.length - reduces
  const perStep = steps
    .slice(0, 12)
    .map((column) => `${column.step + 1}: ${columnWords(column)}`)
    .join('; ')
  return [
    `Timetable of ${title} for ${plural(ranks.length, 'rank')}.`,
    layout.mode === 'time'
      ? `Real time from left to right, ${formatSeconds(layout.end)} in total.`
      : `Steps from left to right.`,
    steps.length === 0
      ? 'Nothing has to be sent.'
      : `${plural(layout.strokes.length, 'message')} in ${plural(steps.length, 'step')}: ${reduces} reduce, ${copies} copy.`,
    ghosts > 0 ? `${plural(ghosts, 'removed step')} shown as dashed columns.` : '',
    steps.length === 0 ? '' : `Per message, step ${perStep}${steps.length > 12 ? '; and so on' : ''}.`,
    full
      ? `At the end every rank holds all ${layout.chunks} chunks with all ${ranks.length} contributions.`
      : 'At the end not every rank holds every contribution.',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

export function timetableTable(
  layout: TimetableLayout,
  ranks: readonly StageRank[],
  predicted?: readonly number[],
): Table {
  const measured = layout.strokes.some((stroke) => stroke.end !== undefined)
  return {
    caption: 'Messages in order of steps',
    columns: [
      { title: 'Step', csv: 'step' },
      { title: 'From', csv: 'from', show: (v) => rankWords(ranks, Number(v)) },
      { title: 'To', csv: 'to', show: (v) => rankWords(ranks, Number(v)) },
      { title: 'Kind', csv: 'kind' },
      { title: 'Chunks', csv: 'chunks' },
      { title: 'Bytes', csv: 'bytes', show: (v) => formatBytes(Number(v)), numeric: true },
      ...(predicted ? [{ title: 'Predicted', csv: 'predicted_s', show: seconds, numeric: true }] : []),
      ...(measured
        ? [
            { title: 'Begin', csv: 'begin_s', show: seconds, numeric: true },
            { title: 'End', csv: 'end_s', show: seconds, numeric: true },
          ]
        : []),
    ],
    rows: [...layout.strokes]
      .sort((a, b) => a.step - b.step || a.from - b.from || a.to - b.to)
      .map((stroke) => [
        stroke.step + 1,
        stroke.from,
        stroke.to,
        stroke.kind,
        formatList(stroke.chunks, Number.POSITIVE_INFINITY),
        stroke.bytes,
        ...(predicted ? [predicted[stroke.step] ?? ''] : []),
        ...(measured ? [stroke.begin ?? '', stroke.end ?? ''] : []),
      ]),
  }
}

function seconds(value: string | number): string {
  return typeof value === 'number' ? formatSeconds(value) : value
}
