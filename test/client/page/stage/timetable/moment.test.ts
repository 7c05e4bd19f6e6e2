import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hitAt, neighbour, pointAlong } from '../../../../../client/page/stage/timetable/hit.ts'
import { layoutTimetable } from '../../../../../client/page/stage/timetable/layout.ts'
import {
  cursorAt,
  cursorX,
  progressOf,
  stepsDone,
  travelledByCursor,
  travelledByProgress,
  wagons,
} from '../../../../../client/page/stage/timetable/moment.ts'
import { buildSchedule } from '../../../../../shared/schedule/build.ts'
import { findAlgorithm } from '../../../../../shared/schedule/registry.ts'
import { butterfly } from '../schedules.ts'
import { tracesOf } from '../traces.ts'

const schedule = butterfly(7)
const layout = layoutTimetable({ schedule, bytes: 7000, mode: 'steps' }, { width: 1100, left: 90 })
const messages = tracesOf(schedule, 7000)
const timed = layoutTimetable({ schedule, bytes: 7000, mode: 'time', messages }, { width: 1100, left: 90 })

describe('the cursor', () => {
  it('is found again where it was drawn', () => {
    const butterflyOf = (r: number) => buildSchedule(findAlgorithm('butterfly', 'allreduce'), 7, { r })
    const ghosted = layoutTimetable(
      { schedule: butterflyOf(2), ghostOf: butterflyOf(0), bytes: 7000, mode: 'steps' },
      { width: 1100, left: 90 },
    )
    for (const drawn of [layout, timed, ghosted])
      fc.assert(
        fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (part) => {
          const cursor = part * drawn.end
          expect(cursorAt(drawn, cursorX(drawn, cursor))).toBeCloseTo(cursor, 6)
        }),
      )
  })

  it('moves every message from 0 to 1 and never back', () => {
    for (const drawn of [layout, timed])
      for (const stroke of drawn.strokes) {
        const places = Array.from({ length: 41 }, (_, i) =>
          travelledByCursor(drawn, (i / 40) * drawn.end)(stroke),
        )
        expect(places[0]).toBe(0)
        expect(places.at(-1)).toBe(1)
        expect([...places].sort((a, b) => a - b)).toEqual(places)
      }
  })

  it('counts the steps that each rank has behind it', () => {
    expect(stepsDone(layout, 2.7)).toEqual(Array(7).fill(2))
    expect(stepsDone(timed, 0)).toEqual(Array(7).fill(0))
    expect(stepsDone(timed, timed.end)).toEqual(Array(7).fill(6))
    expect(new Set(stepsDone(timed, timed.end / 2)).size).toBeGreaterThan(1)
  })
})

describe('a run of which only one rank has told', () => {
  it('does not take the others for done before the step is', () => {
    const alone = messages.map((trace, rank) => (rank === 0 ? trace : undefined))
    const drawn = layoutTimetable(
      { schedule, bytes: 7000, mode: 'time', messages: alone },
      { width: 1100, left: 90 },
    )
    expect(drawn.strokes).toHaveLength(12)
    expect(stepsDone(drawn, 0)).toEqual(Array(7).fill(0))
    expect(stepsDone(drawn, drawn.end)).toEqual(Array(7).fill(6))
  })
})

describe('a live run', () => {
  it('moves messages only by what the sender has got acknowledged', () => {
    const travelled = travelledByProgress([{ step: 1, fraction: 0.25 }])
    const of = (from: number, step: number) =>
      travelled(layout.strokes.find((s) => s.from === from && s.step === step)!)
    expect([of(0, 0), of(0, 1), of(0, 2), of(1, 0)]).toEqual([1, 0.25, 0, 0])
    expect(stepsDone(layout, 0, [{ step: 1, fraction: 0.25 }])).toEqual([1, 0, 0, 0, 0, 0, 0])
  })

  it('derives the fraction of a step from the bytes of both directions', () => {
    // Rank 0 sends and receives 3 chunks of 1000 bytes in step 1, then 2 in step 2.
    expect(progressOf(schedule, 7000, 0, { step: 0, bytes: 3000 })).toEqual({ step: 0, fraction: 0.5 })
    expect(progressOf(schedule, 7000, 0, { step: 1, bytes: 7000 })).toEqual({ step: 1, fraction: 0.25 })
    expect(progressOf(schedule, 7000, 0, { step: 6, bytes: 24000 })).toEqual({ step: 6, fraction: 0 })
  })
})

describe('wagons', () => {
  it('leave one after the other and are all in at the end', () => {
    const [stroke] = layout.strokes
    expect(wagons(stroke!, 0, 8, 10)).toHaveLength(3)
    expect(wagons(stroke!, 1, 8, 10).at(-1)).toEqual(stroke!.points.at(-1))
    const [head, second] = wagons(stroke!, 0.5, 8, 10)
    expect(head![0]).toBeGreaterThan(second![0])
    expect(wagons(stroke!, 0.5, 1, 10)).toHaveLength(1)
  })
})

describe('pointing', () => {
  it('finds the stroke under a point and the cell of a buffer', () => {
    const stroke = layout.strokes[9]!
    expect(hitAt(layout, pointAlong(stroke.points, 0.8), 4)).toEqual({ kind: 'stroke', stroke })
    const box = layout.buffers.find((b) => b.rank === 3 && b.after === 2)!
    const cell = [box.x + layout.bufferWidth * (4.5 / 7), box.y + 2] as const
    expect(hitAt(layout, cell, 4)).toEqual({ kind: 'cell', rank: 3, after: 2, chunk: 4 })
    expect(hitAt(layout, [-50, -50], 4)).toBeUndefined()
  })

  it('leads by arrow keys along a sender and through the senders', () => {
    const first = neighbour(layout.strokes, undefined, 'ArrowRight')!
    expect([first.step, first.from]).toEqual([0, 0])
    const down = neighbour(layout.strokes, first, 'ArrowDown')!
    expect([down.step, down.from]).toEqual([0, 1])
    const right = neighbour(layout.strokes, down, 'ArrowRight')!
    expect([right.step, right.from]).toEqual([1, 1])
    expect(neighbour(layout.strokes, right, 'ArrowLeft')).toBe(down)
    expect(neighbour(layout.strokes, first, 'ArrowUp')).toBe(first)
    expect(neighbour(layout.strokes, down, 'End')?.step).toBe(5)
    expect(neighbour(layout.strokes, neighbour(layout.strokes, down, 'End'), 'Home')).toBe(down)
  })
})
