import { describe, expect, it } from 'vitest'
import { tableCsv } from '../../../../../client/page/stage/drawing/table.ts'
import { holdingsOf } from '../../../../../client/page/stage/timetable/flow.ts'
import { layoutTimetable } from '../../../../../client/page/stage/timetable/layout.ts'
import { titleOf } from '../../../../../client/page/stage/timetable/title.ts'
import {
  cellLines,
  hitLines,
  stepWords,
  timetableSummary,
  timetableTable,
} from '../../../../../client/page/stage/timetable/words.ts'
import { ranksOf } from '../harness/samples.ts'
import { butterfly } from '../schedules.ts'
import { tracesOf } from '../traces.ts'

const schedule = butterfly(3)
const ranks = ranksOf(3)
const messages = tracesOf(schedule, 3072)
const layout = layoutTimetable({ schedule, bytes: 3072, mode: 'steps', messages }, { width: 800, left: 90 })
const holdings = holdingsOf(schedule)

describe('words about a timetable', () => {
  it('sum the picture up in one paragraph', () => {
    expect(timetableSummary(layout, titleOf(schedule), ranks, true)).toMatchInlineSnapshot(
      `"Timetable of butterfly, P = 3 for 3 ranks. Steps from left to right. 12 messages in 4 steps: 2 reduce, 2 copy. Per message, step 1: 1 chunk (1 KiB); 2: 1 chunk (1 KiB); 3: 1 chunk (1 KiB); 4: 1 chunk (1 KiB). At the end every rank holds all 3 chunks with all 3 contributions."`,
    )
  })

  it('name the step that is on', () => {
    expect(stepWords(layout, 0)).toBe('Step 1 of 4: reduce, 1 chunk (1 KiB) per message')
    expect(stepWords(layout, 4)).toBe('All 4 steps are done')
    const alone = layoutTimetable(
      { schedule: butterfly(1), bytes: 8, mode: 'steps' },
      { width: 500, left: 90 },
    )
    expect(stepWords(alone, 0)).toBe('Nothing to send')
  })

  it('say from, to, chunks, bytes, predicted and measured of a message', () => {
    const stroke = layout.strokes.find((s) => s.step === 0 && s.from === 1)!
    const [head, what, times] = hitLines({ kind: 'stroke', stroke }, ranks, holdings, [0.0012, 0, 0, 0])
    expect(head).toBe('Step 1: Bo (rank 1) → Ana (rank 0)')
    expect(what).toBe('chunk 2 to add, 1 KiB')
    expect(times).toMatch(/^predicted 1\.2 ms, measured \d/)
  })

  it('say whose contributions a cell has', () => {
    expect(cellLines(holdings[1]!, 0, 2, ranks)).toEqual([
      'Ana (rank 0) after step 1',
      'chunk 2: 2 of 3 contributions: 0, 1',
    ])
    expect(cellLines(holdings[1]!, 0, 1, ranks)[1]).toBe('chunk 1: 1 of 3 contributions: 0, given away')
    expect(cellLines(holdings[4]!, 0, 1, ranks)[1]).toBe('chunk 1: all 3 contributions')
  })

  it('give every message a row with bare numbers in CSV', () => {
    const table = timetableTable(layout, ranks, [0.001, 0.001, 0.001, 0.001])
    expect(table.rows).toHaveLength(12)
    const [head, row] = tableCsv(table).split('\r\n')
    expect(head).toBe('step,from,to,kind,chunks,bytes,predicted_s,begin_s,end_s')
    expect(row).toMatch(/^1,0,2,reduce,1,1024,0\.001,0\.\d+,0\.\d+$/)
  })
})
