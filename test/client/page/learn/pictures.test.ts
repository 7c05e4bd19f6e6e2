import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLesson } from '../../../../client/learn/lesson.ts'
import type { LearnRun } from '../../../../client/learn/state.ts'
import { curvesOf, curvesSummary, layoutCurves } from '../../../../client/page/learn/curvesLayout.ts'
import { digitOf, side } from '../../../../client/page/learn/drawing.ts'
import { layoutSplit, mainClasses, splitSummary } from '../../../../client/page/learn/splitLayout.ts'
import type { RoundReport } from '../../../../shared/federated/roundTypes.ts'

const peer = (peerId: string, rank: number, own: number, alone: number) => ({
  peer: { peerId, rank, name: peerId },
  samples: 1,
  share: 0.5,
  norm: 1,
  trainSeconds: 1,
  metrics: { own, alone },
})
const report = (round: number, peers: RoundReport['peers']): RoundReport => ({
  round,
  rounds: 10,
  epoch: 1,
  peers,
  metrics: { own: 0.4, alone: 0.2 },
  norm: 1,
  hash: 'h',
  bytesSent: 1,
  bytesReceived: 1,
  seconds: { train: 1, wait: 0, exchange: 0 },
})
const run: LearnRun = {
  runId: 'r',
  by: 'Ada',
  lesson: createLesson({ peers: 2, rounds: 10 }),
  pupils: [
    { peerId: 'Ada', name: 'Ada', place: 0, since: 0 },
    { peerId: 'Bo', name: 'Bo', place: 1, since: 0, leftAfter: 1 },
    { peerId: 'Cem', name: 'Cem', place: 1, since: 1 },
  ],
  phase: 'training',
  fraction: 0,
  rounds: [
    report(1, [peer('Ada', 0, 0.3, 0.2), peer('Bo', 1, 0.4, 0.2)]),
    report(2, [peer('Ada', 0, 0.5, 0.2), peer('Cem', 1, 0.6, 0.2)]),
  ],
  averaged: new Map([
    [1, { loss: 1, accuracy: 0.5 }],
    [2, { loss: 1, accuracy: 0.75 }],
  ]),
  bytesTo: new Map(),
}

describe('curves', () => {
  const data = curvesOf(run)

  it('have each peer for as long as it was there, the average, and who came and went', () => {
    const points = (kind: string, name: string) =>
      data.series.find((each) => each.kind === kind && each.name === name)?.points
    expect(points('averaged', 'averaged')).toEqual([
      [1, 0.5],
      [2, 0.75],
    ])
    expect(points('own', 'Bo')).toEqual([[1, 0.4]])
    expect(points('own', 'Cem')).toEqual([[2, 0.6]])
    expect(data.notes).toEqual([
      { round: 1, text: 'Bo left' },
      { round: 1, text: 'Cem joined' },
    ])
    expect(curvesSummary(data)).toBe(
      'After round 2 of 10 the averaged model is right on 75.0 % of the test samples, the peers alone on 20.0 % on average. Bo left after round 1. Cem joined after round 1.',
    )
  })

  it.each([280, 390, 700, 1200])('stay within %i pixels, their names apart', (width) => {
    const { marks, hits, ...picture } = layoutCurves(data, width)
    expect(picture.width).toBe(width)
    for (const { x, y } of hits) {
      expect(x).toBeGreaterThan(0)
      expect(x).toBeLessThan(width)
      expect(y).toBeLessThan(picture.height)
    }
    expect(hits.some(({ lines }) => lines.join() === 'averaged model,round 2: 75.0 %')).toBe(true)
    const ends = marks.flatMap((mark) =>
      mark.kind === 'text' && /^(averaged|alone) /.test(mark.text) ? [mark.y] : [],
    )
    if (width >= 480) expect(Math.abs(ends[0]! - ends[1]!)).toBeGreaterThanOrEqual(16)
  })
})

describe('who has what', () => {
  const rows = [
    { name: 'Ada', hue: 0, counts: [40, 10, 0] },
    { name: 'Bo', hue: 1, counts: [10, 10, 10], isAway: true },
  ]
  const data = { rows, classes: ['a', 'b', 'c'] }

  it('draws squares whose areas are as the numbers', () => {
    const { marks } = layoutSplit(data, 600)
    const areas = marks.flatMap((mark) =>
      mark.kind === 'rect' && mark.fill === 'rank-0' ? [mark.width * mark.height] : [],
    )
    expect(areas).toHaveLength(2)
    expect(areas[0]! / areas[1]!).toBeCloseTo(4, 1)
  })

  it('says it in words', () => {
    expect(mainClasses([40, 10, 0], data.classes)).toEqual(['a', 'b'])
    expect(splitSummary(data)).toBe(
      'Ada: 50 samples, mostly a, b. Bo (not here): 30 samples, of all classes.',
    )
  })
})

describe('a drawing', () => {
  it('becomes a digit of 20 pixels with its weight in the middle, wherever and however large it is drawn', () => {
    fc.assert(
      fc.property(
        fc.record({
          x: fc.integer({ min: 0, max: 200 }),
          y: fc.integer({ min: 0, max: 150 }),
          width: fc.integer({ min: 8, max: 80 }),
          height: fc.integer({ min: 20, max: 130 }),
        }),
        ({ x, y, width, height }) => {
          const pixels = new Float32Array(280 * 280)
          for (let row = y; row < y + height; row++) pixels.fill(1, 280 * row + x, 280 * row + x + width)
          const digit = digitOf({ pixels, width: 280, height: 280 })!
          const inked = [...digit].flatMap((value, at) => (value > 0.01 ? [at] : []))
          const columns = inked.map((at) => at % side)
          const rows = inked.map((at) => Math.floor(at / side))
          const extent = (values: number[]) => Math.max(...values) - Math.min(...values) + 1
          // A pixel of rounding on either side.
          expect(Math.abs(Math.max(extent(columns), extent(rows)) - 20)).toBeLessThanOrEqual(2)
          const middle = rows.reduce((sum, row, i) => sum + (row + 0.5) * digit[inked[i]!]!, 0)
          const weight = inked.reduce((sum, at) => sum + digit[at]!, 0)
          expect(Math.abs(middle / weight - 14)).toBeLessThanOrEqual(0.6)
          // The pen covers of the picture what it covers of the sheet.
          const scale = Math.max(width, height) / 20
          expect(weight * scale * scale).toBeCloseTo(width * height, -2)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('is nothing when nothing is drawn', () => {
    expect(digitOf({ pixels: new Float32Array(100), width: 10, height: 10 })).toBeUndefined()
  })
})
