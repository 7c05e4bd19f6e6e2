/** Accuracy by round: the averaged model, each peer before averaging, and each peer that learns alone. */
import type { LearnRun } from '../../learn/state.ts'
import type { Picture } from '../stage/drawing/Chart.tsx'
import type { Hit } from '../stage/drawing/hits.ts'
import { fitText, line, linePath, type Mark, round, textWidth } from '../stage/drawing/marks.ts'
import { linear, niceTicks } from '../stage/drawing/scale.ts'

export interface Series {
  readonly kind: 'averaged' | 'own' | 'alone' | 'mean-alone'
  readonly name: string
  /** Place in the rank palette; of the averaged and the mean none. */
  readonly hue?: number
  /** Round and accuracy, 0 .. 1. */
  readonly points: readonly (readonly [round: number, accuracy: number])[]
}

export interface CurvesData {
  readonly rounds: number
  readonly series: readonly Series[]
  /** What happened to the group, after so many rounds. */
  readonly notes: readonly { readonly round: number; readonly text: string }[]
}

export function curvesOf(run: LearnRun): CurvesData {
  const { rounds, pupils, lesson, averaged } = run
  const metric = (peerId: string, name: string) =>
    rounds.flatMap((report) => {
      const value = report.peers.find(({ peer }) => peer.peerId === peerId)?.metrics[name]
      return value === undefined ? [] : [[report.round, value] as const]
    })
  const series: Series[] = [
    ...pupils.map(({ peerId, name, place }): Series => {
      return { kind: 'alone', name, hue: place, points: metric(peerId, 'alone') }
    }),
    ...pupils.map(({ peerId, name, place }): Series => {
      return { kind: 'own', name, hue: place, points: metric(peerId, 'own') }
    }),
    {
      kind: 'mean-alone',
      name: 'alone',
      points: rounds.flatMap(({ round, metrics }) =>
        metrics.alone === undefined ? [] : [[round, metrics.alone] as const],
      ),
    },
    {
      kind: 'averaged',
      name: 'averaged',
      points: [...averaged].map(([at, { accuracy }]) => [at, accuracy] as const).sort(([a], [b]) => a - b),
    },
  ]
  const notes = pupils.flatMap(({ name, since, leftAfter }) => [
    ...(since > 0 ? [{ round: since, text: `${name} joined` }] : []),
    ...(leftAfter === undefined ? [] : [{ round: leftAfter, text: `${name} left` }]),
  ])
  return { rounds: lesson.rounds, series: series.filter(({ points }) => points.length > 0), notes }
}

const looks: Readonly<
  Record<Series['kind'], { line: number; dash?: readonly number[]; opacity?: number; word: string }>
> = {
  averaged: { line: 3, word: 'averaged model' },
  own: { line: 1.25, opacity: 0.8, word: 'before averaging' },
  alone: { line: 1.25, dash: [3, 3], opacity: 0.8, word: 'alone' },
  'mean-alone': { line: 2.5, dash: [7, 4], word: 'alone, mean of the peers' },
}

const percent = (value: number) => `${(100 * value).toFixed(1)} %`

export function layoutCurves(data: CurvesData, width: number, scale = 1): Picture {
  const { rounds, series } = data
  const size = 12.5 * scale
  const isSmall = width < 480 * scale
  const [left, right, top, bottom] = [40 * scale, (isSmall ? 12 : 128) * scale, 34 * scale, 34 * scale]
  const height = (isSmall ? 260 : 320) * scale
  const x = linear(0, rounds, left, width - right)
  const y = linear(0, 1, height - bottom, top)
  const text = (
    words: string,
    at: readonly [number, number],
    more: { anchor?: 'start' | 'middle' | 'end'; fill?: string; strong?: boolean; mono?: boolean } = {},
  ): Mark => ({ kind: 'text', x: round(at[0]), y: round(at[1]), text: words, size, fill: 'ink-2', ...more })
  const marks: Mark[] = [0, 0.25, 0.5, 0.75, 1].flatMap((tick) => [
    line(left, y(tick), width - right, y(tick), { stroke: 'hairline', line: 1 }),
    text(`${100 * tick}`, [left - 6 * scale, y(tick) + 4 * scale], { anchor: 'end', mono: true }),
  ])
  for (const tick of niceTicks(0, rounds, Math.max(2, (width - left - right) / (70 * scale))))
    if (Number.isInteger(tick))
      marks.push(
        line(x(tick), y(0), x(tick), y(0) + 4 * scale, { stroke: 'rule', line: 1 }),
        text(String(tick), [x(tick), height - bottom + 17 * scale], { anchor: 'middle', mono: true }),
      )
  marks.push(
    line(left, y(0), width - right, y(0), { stroke: 'rule', line: 1 }),
    text('% of the test samples right', [left - 30 * scale, 12 * scale]),
    text('round', [width - right, height - 3 * scale], { anchor: 'end' }),
    ...noteMarks(data, x, [top, height - bottom], scale),
  )
  const hits: Hit[] = []
  for (const [i, each] of series.entries()) {
    const { word, ...look } = looks[each.kind]
    const stroke = each.hue === undefined ? 'ink' : `rank-${each.hue % 8}`
    const points = each.points.map(([at, value]) => [x(at), y(value)] as const)
    marks.push({ kind: 'path', d: linePath(points), fill: 'none', stroke, ...look })
    const [end] = points.slice(-1)
    if (each.points.length === 1 && end)
      marks.push({ kind: 'circle', x: round(end[0]), y: round(end[1]), r: look.line + 0.5, fill: stroke })
    for (const [at, value] of each.points)
      hits.push({
        x: x(at),
        y: y(value),
        series: i,
        lines: [each.hue === undefined ? word : `${each.name}, ${word}`, `round ${at}: ${percent(value)}`],
      })
  }
  if (!isSmall) marks.push(...endLabels(series, x, y, scale))
  return { width, height, marks, hits }
}

/** The two lines that matter are named where they end, a line apart at least. */
function endLabels(
  series: readonly Series[],
  x: (round: number) => number,
  y: (accuracy: number) => number,
  scale: number,
): Mark[] {
  const ends = series.flatMap(({ kind, points }) => {
    const last = points.at(-1)
    if (!last || (kind !== 'averaged' && kind !== 'mean-alone')) return []
    return [{ name: kind === 'averaged' ? 'averaged' : 'alone', at: last[0], value: last[1], y: y(last[1]) }]
  })
  ends.sort((a, b) => a.y - b.y)
  const gap = 17 * scale
  const [upper, lower] = ends
  const apart = upper && lower ? Math.max(0, gap - (lower.y - upper.y)) / 2 : 0
  return ends.map(({ name, at, value, y: middle }, i) => ({
    kind: 'text',
    x: round(x(at) + 8 * scale),
    y: round(middle + 4 * scale + (i === 0 ? -apart : apart)),
    text: `${name} ${percent(value)}`,
    size: 12.5 * scale,
    fill: 'ink',
    strong: name === 'averaged',
    halo: 'ground',
  }))
}

/** A rule where somebody came or went, with the name above; names that would run into one another stand in two rows, or not at all. */
function noteMarks(
  { notes, rounds }: CurvesData,
  x: (round: number) => number,
  [top, bottom]: readonly [number, number],
  scale: number,
): Mark[] {
  const size = 12.5 * scale
  const free = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return [...notes]
    .sort((a, b) => a.round - b.round)
    .flatMap(({ round: at, text }): Mark[] => {
      const rule = line(x(at), top, x(at), bottom, { stroke: 'rule', line: 1, dash: [2, 3] })
      const words = fitText(text, size, 160 * scale)
      const wide = textWidth(words, size)
      const isLate = at > rounds * 0.8
      const begin = isLate ? x(at) - wide - 4 : x(at) + 4
      const row = free.findIndex((until) => until < begin)
      if (row < 0) return [rule]
      free[row] = begin + wide + 6
      return [
        rule,
        {
          kind: 'text',
          x: round(x(at) + (isLate ? -4 : 4)),
          y: round(top + (row + 1) * 15 * scale),
          text: words,
          size,
          fill: 'ink-2',
          anchor: isLate ? 'end' : 'start',
          halo: 'ground',
        },
      ]
    })
}

export function curvesSummary({ series, rounds, notes }: CurvesData): string {
  const last = (kind: Series['kind']) => series.find((each) => each.kind === kind)?.points.at(-1)
  const [averaged, alone] = [last('averaged'), last('mean-alone')]
  if (!averaged) return 'No round is done yet.'
  return [
    `After round ${averaged[0]} of ${rounds} the averaged model is right on ${percent(averaged[1])} of the test samples`,
    alone ? `, the peers alone on ${percent(alone[1])} on average.` : '.',
    ...notes.map(({ round: at, text }) => ` ${text} after round ${at}.`),
  ].join('')
}
