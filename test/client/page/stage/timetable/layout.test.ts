import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TimetableData, TimetableLayout } from '../../../../../client/page/stage/timetable/data.ts'
import { layoutTimetable } from '../../../../../client/page/stage/timetable/layout.ts'
import { labelWidth } from '../../../../../client/page/stage/timetable/measures.ts'
import { buildSchedule } from '../../../../../shared/schedule/build.ts'
import { findAlgorithm } from '../../../../../shared/schedule/registry.ts'
import { ranksOf } from '../harness/samples.ts'
import { butterfly, ring } from '../schedules.ts'
import { predictionOf, tracesOf } from '../traces.ts'

const butterflyOf = (size: number, r: number) =>
  buildSchedule(findAlgorithm('butterfly', 'allreduce'), size, { r })

function data(more: Partial<TimetableData> & Pick<TimetableData, 'schedule'>): TimetableData {
  return { bytes: 1 << 20, mode: 'steps', ...more }
}

/** Everything that must hold of any picture. */
function checkSound(layout: TimetableLayout): void {
  const { columns, strokes, rows, width, height } = layout
  columns.forEach((column, i) => {
    expect(column.x1).toBeGreaterThan(column.x0)
    expect(column.x0).toBeGreaterThanOrEqual(columns[i - 1]?.x1 ?? 0)
    expect(column.x1).toBeLessThanOrEqual(width)
  })
  let [astray, outside] = [0, 0]
  for (const stroke of strokes) {
    const [first, last] = [stroke.points[0], stroke.points.at(-1)]
    if (first?.[1] !== rows[stroke.from] || last?.[1] !== rows[stroke.to] || !(stroke.line > 0)) astray++
    outside += stroke.points.filter(([x, y]) => !(x >= 0 && x <= width && y >= 0 && y <= height)).length
  }
  expect(astray, 'strokes that miss their stations').toBe(0)
  expect(outside, 'points outside the picture').toBe(0)
  layout.scaleKnots.slice(1).forEach((knot, i) => {
    expect(knot.at).toBeGreaterThanOrEqual(layout.scaleKnots[i]!.at)
    expect(knot.x).toBeGreaterThanOrEqual(layout.scaleKnots[i]!.x)
  })
}

describe('layoutTimetable', () => {
  it('keeps its promises for any size, width, scale and number of removed steps', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.nat(),
        fc.integer({ min: 300, max: 2000 }),
        fc.constantFrom(1, 1.75),
        fc.boolean(),
        (size, pick, width, scale, isRing) => {
          const most = Math.ceil(Math.log2(size))
          const r = isRing ? 0 : pick % (most + 1)
          const schedule = isRing ? ring(size) : butterflyOf(size, r)
          const ghostOf = r > 0 ? butterflyOf(size, 0) : undefined
          const left = labelWidth(ranksOf(size), width, scale)
          const layout = layoutTimetable(data({ schedule, ghostOf }), { width, scale, left })
          checkSound(layout)
          expect(layout.columns.filter((column) => column.ghost)).toHaveLength(r)
          expect(layout.columns.filter((column) => !column.ghost)).toHaveLength(schedule.steps)
          expect(layout.end).toBe(schedule.steps)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('fits common sizes into common widths without scrolling', () => {
    for (const [size, width] of [
      [7, 340],
      [7, 800],
      [8, 1100],
      [16, 1100],
      [31, 1100],
      [64, 1900],
    ] as const) {
      const left = labelWidth(ranksOf(size), width)
      const { width: body, right } = layoutTimetable(data({ schedule: butterfly(size) }), { width, left })
      expect(left + body + right, `P = ${size} in ${width} px`).toBeLessThanOrEqual(width)
    }
  })

  it('shows the chunks between the steps where there is room, else beside the picture', () => {
    const roomy = layoutTimetable(data({ schedule: butterfly(7) }), { width: 1100, left: 90 })
    expect(roomy.buffers).toHaveLength(7 * 7)
    expect(roomy.right).toBe(0)
    const narrow = layoutTimetable(data({ schedule: butterfly(7) }), { width: 400, left: 40 })
    expect(narrow.buffers).toHaveLength(0)
    expect(narrow.right).toBeGreaterThan(narrow.bufferWidth)
    const forced = layoutTimetable(data({ schedule: butterfly(7) }), {
      width: 400,
      left: 40,
      detail: 'buffers',
    })
    expect(forced.buffers).toHaveLength(7 * 7)
  })

  it('puts the removed steps behind the reduction and lets the cursor jump over them', () => {
    const layout = layoutTimetable(data({ schedule: butterflyOf(7, 1), ghostOf: butterflyOf(7, 0) }), {
      width: 1100,
      left: 90,
    })
    expect(layout.columns.map((c) => (c.ghost ? `ghost ${c.step}` : c.step))).toEqual([
      0,
      1,
      2,
      'ghost 3',
      3,
      4,
    ])
    expect(layout.ghosts).toHaveLength(7)
    const jump = layout.scaleKnots.filter((knot) => knot.at === 3)
    expect(jump).toHaveLength(2)
    expect(jump[1]!.x).toBeGreaterThan(jump[0]!.x)
  })

  it('draws more bytes wider and never wider than the rows allow', () => {
    const { strokes } = layoutTimetable(data({ schedule: butterfly(7) }), { width: 1100, left: 90 })
    const line = (chunks: number) => strokes.find((stroke) => stroke.chunks.length === chunks)!.line
    expect(line(3)).toBeGreaterThan(line(2))
    expect(line(2)).toBeGreaterThan(line(1))
    const dense = layoutTimetable(data({ schedule: butterfly(64) }), { width: 1100, left: 90 })
    for (const stroke of dense.strokes) expect(stroke.line).toBeLessThan(dense.rowHeight / 4)
  })

  it('lays time out by what was measured, with the prediction behind it', () => {
    const schedule = butterfly(7)
    const messages = tracesOf(schedule, 1 << 20)
    const predicted = predictionOf(schedule, 1 << 20)
    const layout = layoutTimetable(data({ schedule, mode: 'time', messages, predicted }), {
      width: 1100,
      left: 90,
    })
    checkSound(layout)
    expect(layout.end).toBeCloseTo(Math.max(...messages.flat().map((m) => m.end)))
    expect(layout.strokes).toHaveLength(42)
    expect(layout.ghosts).toHaveLength(42)
    const [first] = layout.strokes
    expect(first?.end).toBe(messages[first!.to]!.find((m) => m.direction === 'receive' && m.step === 0)!.end)
  })

  it('takes the prediction when nothing was measured, and steps when there is no time at all', () => {
    const schedule = butterfly(5)
    const predicted = predictionOf(schedule, 4096)
    const size = { width: 900, left: 90 }
    const simulated = layoutTimetable(data({ schedule, mode: 'time', predicted }), size)
    expect(simulated.mode).toBe('time')
    expect(simulated.end).toBeCloseTo(predicted.reduce((a, b) => a + b, 0))
    expect(simulated.strokes.every((stroke) => stroke.end === undefined)).toBe(true)
    expect(layoutTimetable(data({ schedule, mode: 'time' }), size).mode).toBe('steps')
  })

  it('draws one rank with nothing to send', () => {
    const layout = layoutTimetable(data({ schedule: butterfly(1) }), { width: 600, left: 80 })
    expect(layout.strokes).toEqual([])
    expect(layout.buffers).toHaveLength(1)
  })

  it('looks like this for three ranks', () => {
    const layout = layoutTimetable(data({ schedule: butterfly(3) }), { width: 500, left: 80 })
    const { columns, strokes, rows, rowHeight, top, right, width, height } = layout
    expect({
      columns,
      strokes: strokes.slice(0, 2),
      rows,
      rowHeight,
      top,
      right,
      width,
      height,
    }).toMatchSnapshot()
  })
})
