import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layoutBufferStrip } from '../../../../../client/page/stage/charts/bufferStripLayout.ts'
import { fitTable } from '../../../../../client/page/stage/charts/FitPlot.tsx'
import { fitSummary, layoutFit, shownLink } from '../../../../../client/page/stage/charts/fitLayout.ts'
import { ganttTable } from '../../../../../client/page/stage/charts/Gantt.tsx'
import {
  ganttCursor,
  ganttSummary,
  layoutGantt,
} from '../../../../../client/page/stage/charts/ganttLayout.ts'
import { sizeTable } from '../../../../../client/page/stage/charts/SizeChart.tsx'
import { sweepTable } from '../../../../../client/page/stage/charts/SweepChart.tsx'
import { layoutSizes, sizeSummary, spread } from '../../../../../client/page/stage/charts/sizeLayout.ts'
import { layoutSweep, sweepSummary } from '../../../../../client/page/stage/charts/sweepLayout.ts'
import { criticalPath, lanesOf, waitsOf } from '../../../../../client/page/stage/charts/waits.ts'
import { winnersOf } from '../../../../../client/page/stage/charts/winners.ts'
import type { Picture } from '../../../../../client/page/stage/drawing/Chart.tsx'
import { holdingsOf } from '../../../../../client/page/stage/timetable/flow.ts'
import type { TraceMessage } from '../../../../../shared/collective/types.ts'
import { fitsOf, ranksOf, sizesOf, sweepOf } from '../harness/samples.ts'
import { butterfly } from '../schedules.ts'
import { predictionOf, tracesOf } from '../traces.ts'

const widths = [340, 700, 1100, 1900]

/** No mark without numbers, and everything that can be pointed at lies inside. */
function checkSound(picture: Picture): void {
  expect(JSON.stringify(picture.marks)).not.toMatch(/NaN|null|Infinity/)
  for (const hit of picture.hits) {
    expect(hit.x).toBeGreaterThanOrEqual(0)
    expect(hit.x).toBeLessThanOrEqual(picture.width)
    expect(hit.y).toBeLessThanOrEqual(picture.height)
    expect(hit.lines.join(' ')).not.toMatch(/NaN|undefined/)
  }
}

function trace(
  direction: 'send' | 'receive',
  step: number,
  peer: number,
  begin: number,
  end: number,
): TraceMessage {
  return { direction, step, peer, begin, end, bytes: 100 }
}

describe('waits', () => {
  const mine = [
    trace('send', 0, 1, 0, 2),
    trace('receive', 0, 2, 5, 6),
    trace('send', 1, 2, 6, 7),
    trace('receive', 1, 1, 6.5, 8),
  ]

  it('are the gaps before a message comes in, with whom they were spent on', () => {
    expect(waitsOf(0, mine)).toEqual([{ rank: 0, step: 0, begin: 2, end: 5, peers: [2] }])
  })

  it('put messages that overlap on lanes of their own', () => {
    const lanes = lanesOf([trace('send', 0, 1, 0, 4), trace('send', 0, 2, 1, 2), trace('send', 1, 3, 4, 5)])
    expect(lanes.map(({ lane }) => lane)).toEqual([0, 1, 0])
  })

  it('follow the critical path back from the last arrival', () => {
    const messages = [
      [trace('receive', 0, 1, 0, 3), trace('send', 1, 2, 3, 9)],
      [trace('send', 0, 0, 0, 3)],
      [trace('receive', 1, 0, 4, 9), trace('receive', 0, 1, 0, 1)],
    ]
    expect(criticalPath(messages)).toEqual([
      { from: 0, to: 2, step: 1 },
      { from: 1, to: 0, step: 0 },
    ])
    expect(criticalPath([undefined, []])).toEqual([])
  })
})

describe('Gantt', () => {
  it('shows every message once per side, for any width', () => {
    const messages = tracesOf(butterfly(7), 1 << 20)
    const predicted = predictionOf(butterfly(7), 1 << 20)
    for (const width of widths) {
      const picture = layoutGantt({ ranks: ranksOf(7), messages, predicted }, width)
      checkSound(picture)
      expect(picture.hits.filter((hit) => /sends to|receives from/.test(hit.lines[0]!))).toHaveLength(84)
    }
    expect(ganttTable({ ranks: ranksOf(7), messages }).rows.length).toBeGreaterThanOrEqual(84)
    expect(ganttSummary({ ranks: ranksOf(7), messages })).toMatch(/^7 ranks in real time.*Critical path: /)
    expect(ganttSummary({ ranks: ranksOf(2), messages: [undefined, []] })).toBe('No messages were recorded.')
  })
})

describe('the cursor of the Gantt chart', () => {
  it('runs from the left end of the axis to the right one and not beyond', () => {
    const picture = layoutGantt({ ranks: ranksOf(4), messages: tracesOf(butterfly(4), 4096) }, 900)
    const { left, right, end } = picture.axis
    const x = (seconds: number) => {
      const [mark] = ganttCursor(picture, seconds)
      return Number(/M([\d.]+) /.exec(mark?.kind === 'path' ? mark.d : '')?.[1])
    }
    expect([x(-1), x(0)]).toEqual([left, left])
    expect(x(end / 2)).toBeCloseTo((left + right) / 2, 1)
    expect([x(end), x(2 * end)]).toEqual([right, right])
  })
})

describe('sizes', () => {
  const curve = (label: string, alpha: number, beta: number) => ({
    label,
    points: [64, 1024, 16384, 262144].map((bytes) => ({ bytes, seconds: alpha + beta * bytes })),
  })

  it('name the candidate that wins and where it takes over', () => {
    const winners = winnersOf([curve('slow start', 4e-3, 1e-8), curve('fast start', 1e-3, 1e-6)])
    expect(winners.map((winner) => winner.label)).toEqual(['fast start', 'slow start'])
    // The lines cross at 3030 bytes; between neighbouring sizes the crossing is interpolated.
    expect(winners[1]!.from).toBeGreaterThan(1024)
    expect(winners[1]!.from).toBeLessThan(16384)
    expect(winners[0]!.to).toBe(winners[1]!.from)
  })

  it('never choose a baseline', () => {
    const star = { ...curve('star', 1e-9, 1e-12), baseline: true }
    expect(winnersOf([star, curve('ring', 1, 1)]).map((winner) => winner.label)).toEqual(['ring'])
    expect(winnersOf([star])).toEqual([])
  })

  it('keep labels apart, in order and inside', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 300, noNaN: true }), { minLength: 1, maxLength: 12 }),
        (ys) => {
          const placed = spread(ys, 15, 0, 300)
          const order = ys.map((_, i) => i).sort((a, b) => ys[a]! - ys[b]!)
          order.slice(1).forEach((i, n) => {
            expect(placed[i]! - placed[order[n]!]!).toBeGreaterThanOrEqual(15 - 1e-9)
          })
          expect(Math.max(...placed)).toBeLessThanOrEqual(300)
        },
      ),
    )
  })

  it('draw real predictions at any width', () => {
    const candidates = sizesOf(7)
    for (const width of widths) checkSound(layoutSizes({ candidates, bytes: 65536 }, width))
    expect(layoutSizes({ candidates: [] }, 500).marks).toEqual([])
    expect(sizeTable({ candidates }).rows).toHaveLength(5 * 15)
    expect(sizeSummary({ candidates })).toMatch(/^Time against size for 5 candidates, 20 measured points\./)
  })
})

describe('sweep', () => {
  it('marks the best of prediction and measurement', () => {
    const rows = sweepOf(7, 16384)
    for (const width of widths) checkSound(layoutSweep({ rows, bytes: 16384 }, width))
    const texts = layoutSweep({ rows, bytes: 16384 }, 900).marks.flatMap((m) =>
      m.kind === 'text' ? [m.text] : [],
    )
    expect(texts.filter((text) => text.startsWith('✓')).length).toBeGreaterThanOrEqual(1)
    expect(texts).toContain('α latency')
    expect(sweepTable({ rows, bytes: 16384 }).rows).toHaveLength(5)
    expect(sweepSummary({ rows, bytes: 16384 })).toMatch(/Best predicted: r = \d, .* Best measured: /)
  })

  it('adds the parts up to the whole', () => {
    const [row] = sweepOf(7, 16384)
    const { alpha, beta, gamma } = row!.prediction.parts
    expect(alpha + beta + gamma).toBeCloseTo(row!.prediction.seconds, 9)
  })
})

describe('fit', () => {
  it('shows the slowest or the median link, or the one that is asked for', () => {
    const links = fitsOf(5)
    const data = { ranks: ranksOf(5), links, pooling: 'slowest' as const }
    const costs = links.map((link) => link.curve.alpha + 65536 * link.curve.beta)
    expect(shownLink(data)).toBe(links[costs.indexOf(Math.max(...costs))])
    expect(shownLink({ ...data, link: '3 1' })).toMatchObject({ from: 3, to: 1 })
    for (const width of widths) checkSound(layoutFit(data, width))
    expect(fitTable(data).rows).toHaveLength(20 * 9)
    expect(fitSummary(data)).toMatch(/^Slowest of 20 links: .* MB\/s/)
    expect(fitSummary({ ...data, links: [] })).toBe('No link has been measured yet.')
  })
})

describe('buffer strip', () => {
  it('shows every chunk of a rank and a tick when all are complete', () => {
    const schedule = butterfly(7)
    const holdings = holdingsOf(schedule)
    const draw = (after: number, width: number) =>
      layoutBufferStrip({ ranks: ranksOf(7), rank: 3, chunks: 7, holdings: holdings[after]! }, width)
    for (const width of [200, ...widths]) checkSound(draw(2, width))
    const texts = (after: number) =>
      draw(after, 340).marks.flatMap((m) => (m.kind === 'text' ? [m.text] : []))
    expect(texts(2)).toContain('4/7')
    expect(texts(6).filter((text) => text.includes('/'))).toEqual([])
  })
})
