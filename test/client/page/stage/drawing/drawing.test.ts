import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hit, hitAtPoint, hitByKey } from '../../../../../client/page/stage/drawing/hits.ts'
import {
  fitText,
  hatchPath,
  line,
  type Mark,
  textWidth,
} from '../../../../../client/page/stage/drawing/marks.ts'
import {
  binaryTicks,
  linear,
  logarithmic,
  logTicks,
  niceTicks,
} from '../../../../../client/page/stage/drawing/scale.ts'
import { shifted, svgFile } from '../../../../../client/page/stage/drawing/svg.ts'
import { tableCsv } from '../../../../../client/page/stage/drawing/table.ts'

describe('scales', () => {
  it('have round ticks inside the range', () => {
    expect(niceTicks(0, 88.7, 8)).toEqual([0, 20, 40, 60, 80])
    expect(niceTicks(0, 0.0031, 4)).toEqual([0, 0.001, 0.002, 0.003])
    expect(logTicks(0.0004, 0.05)).toEqual([0.001, 0.003, 0.01, 0.03])
    expect(binaryTicks(256, 1 << 22, 5)).toEqual([256, 2048, 16384, 131072, 1048576].map((n) => n * 2))
    fc.assert(
      fc.property(
        fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
        fc.integer({ min: 1, max: 20 }),
        (to, n) => {
          for (const tick of niceTicks(0, to, n)) expect(tick).toBeLessThanOrEqual(to * (1 + 1e-9))
        },
      ),
    )
  })

  it('map ends to ends', () => {
    expect(linear(0, 10, 100, 200)(5)).toBe(150)
    expect(logarithmic(1, 100, 0, 10)(10)).toBeCloseTo(5)
  })
})

describe('marks', () => {
  it('hatch stays inside its box', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -50, max: 50 }),
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 1, max: 40 }),
        (x, width, height) => {
          const numbers = [...hatchPath(x, 3, width, height, 5).matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)]
          for (const [, px, py] of numbers) {
            expect(Number(px)).toBeGreaterThanOrEqual(x - 0.01)
            expect(Number(px)).toBeLessThanOrEqual(x + width + 0.01)
            expect(Number(py)).toBeGreaterThanOrEqual(3 - 0.01)
            expect(Number(py)).toBeLessThanOrEqual(3 + height + 0.01)
          }
        },
      ),
    )
  })

  it('cut texts to the room that they have', () => {
    expect(fitText('Ana', 14, 100)).toBe('Ana')
    const cut = fitText('Lime Monkey the Second', 14, 60)
    expect(cut).toMatch(/…$/)
    expect(textWidth(cut, 14)).toBeLessThanOrEqual(60)
    expect(fitText('Ana', 14, 5)).toBe('')
  })
})

describe('files', () => {
  const palette = (paint: string) => (paint === 'ground' ? '#fff' : '#123456')

  it('write a picture that needs no style sheet and lets no text out', () => {
    const marks: Mark[] = [
      line(0, 0, 10, 5, { stroke: 'ink', line: 1, dash: [2, 3] }),
      { kind: 'text', x: 1, y: 2, text: '<b> & "Bo"', size: 12, fill: 'ink' },
    ]
    const file = svgFile({ width: 20, height: 10, marks }, 'a <title>', palette)
    expect(file).toContain('<title>a &#60;title&#62;</title>')
    expect(file).toContain('&#60;b&#62; &#38; &#34;Bo&#34;')
    expect(file).toContain('stroke-dasharray="2 3"')
    expect(file).not.toContain('var(')
  })

  it('shift paths and places alike', () => {
    const [path, circle] = shifted(
      [line(1, 2, 3, 4, { stroke: 'ink' }), { kind: 'circle', x: 1, y: 1, r: 2, fill: 'ink' }],
      10,
      -1,
    )
    expect(path).toMatchObject({ d: 'M11 1L13 3' })
    expect(circle).toMatchObject({ x: 11, y: 0 })
  })

  it('quote CSV fields, keep numbers bare and let no formula through', () => {
    const table = {
      caption: '',
      columns: [
        { title: 'A', csv: 'a' },
        { title: 'B', csv: 'b_s' },
      ],
      rows: [
        ['x, "y"', 0.0012],
        ['=1+1', Number.NaN],
      ],
    }
    expect(tableCsv(table)).toBe('a,b_s\r\n"x, ""y""",0.0012\r\n\'=1+1,\r\n')
  })
})

describe('hits', () => {
  const at = (x: number, y: number, series: number, more: Partial<Hit> = {}): Hit => ({
    x,
    y,
    series,
    lines: [`${x} ${series}`],
    ...more,
  })
  const hits = [at(0, 0, 0), at(50, 0, 0), at(10, 40, 1), at(25, 20, 2, { width: 60, height: 60 })]

  it('prefer the nearest point, then the smallest box around', () => {
    expect(hitAtPoint(hits, 47, 3, 10)).toBe(hits[1])
    expect(hitAtPoint(hits, 30, 25, 5)).toBe(hits[3])
    expect(hitAtPoint(hits, 300, 300, 5)).toBeUndefined()
  })

  it('are reached by keys along and across series', () => {
    expect(hitByKey(hits, undefined, 'ArrowRight')).toBe(hits[0])
    expect(hitByKey(hits, hits[0], 'ArrowRight')).toBe(hits[1])
    expect(hitByKey(hits, hits[1], 'ArrowRight')).toBe(hits[1])
    expect(hitByKey(hits, hits[0], 'ArrowDown')).toBe(hits[2])
    expect(hitByKey(hits, hits[1], 'Home')).toBe(hits[0])
    expect(hitByKey(hits, hits[1], 'q')).toBeUndefined()
  })
})
