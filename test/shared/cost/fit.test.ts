import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import { curveThrough, curveTime, tailBeta } from '../../../shared/cost/curve.ts'
import {
  decodeRow,
  encodeRow,
  fitBursts,
  fitCurve,
  foldModel,
  guessModel,
  probeSizes,
  rowLength,
} from '../../../shared/cost/fit.ts'
import type { LinkCurve, RankMeasurement } from '../../../shared/cost/types.ts'

const line = (alpha: number, beta: number): LinkCurve =>
  curveThrough(
    probeSizes.map((bytes) => ({ bytes, seconds: alpha + beta * bytes })),
    1,
  )

const measurement = (links: (LinkCurve | undefined)[], gamma = 1e-9): RankMeasurement => ({
  gamma,
  overhead: 2e-5,
  hostBeta: 4e-8,
  sharedBeta: 1e-8,
  sharedOverhead: 1e-5,
  links,
})

describe('curveTime', () => {
  /** Echo times of one association over a 10 ms round trip: reference measurements of Chromium, halved. */
  const windowed = curveThrough(
    [
      [8, 11.3],
      [4096, 11.4],
      [8192, 33.8],
      [16384, 56.8],
      [32768, 79.6],
      [65536, 81.5],
      [262144, 156],
    ].map(([bytes, ms]) => ({ bytes: bytes!, seconds: ms! / 2000 })),
    1,
  )

  it('is constant below the first point, exact on the points and linear between them', () => {
    expect(curveTime(windowed, 0)).toBe(windowed.points[0]!.seconds)
    for (const point of windowed.points)
      expect(curveTime(windowed, point.bytes)).toBeCloseTo(point.seconds, 12)
    expect(curveTime(windowed, 12288)).toBeCloseTo((0.0338 + 0.0568) / 4, 12)
  })

  it('keeps the jump of the window, which the alpha-beta line misses by a factor', () => {
    expect(curveTime(windowed, 16384) / curveTime(windowed, 4096)).toBeGreaterThan(4.9)
    const atLine = windowed.alpha + windowed.beta * 16384
    expect(curveTime(windowed, 16384) / atLine).toBeGreaterThan(1.8)
    expect(windowed.residual).toBeGreaterThan(0.3)
  })

  it('goes on with the slope of the last segment', () => {
    const slope = (0.156 - 0.0815) / 2 / (262144 - 65536)
    expect(tailBeta(windowed)).toBeCloseTo(slope, 15)
    expect(curveTime(windowed, 2 ** 20)).toBeCloseTo(0.078 + slope * (2 ** 20 - 2 ** 18), 12)
  })

  it('never has a free tail: a flat end falls back on the line, a lone point on its mean', () => {
    const flat = curveThrough(
      [
        { bytes: 100, seconds: 1 },
        { bytes: 200, seconds: 3 },
        { bytes: 300, seconds: 2.9 },
      ],
      1,
    )
    expect(tailBeta(flat)).toBe(flat.beta)
    expect(tailBeta(curveThrough([{ bytes: 100, seconds: 1 }], 1))).toBe(0.01)
  })

  it('never falls with the size, whatever was measured', () => {
    const seconds = fc.array(fc.double({ min: 1e-6, max: 10, noNaN: true }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(seconds, fc.nat(2 ** 22), fc.nat(2 ** 22), (values, a, b) => {
        const curve = curveThrough(
          values.map((value, i) => ({ bytes: probeSizes[i]!, seconds: value })),
          1,
        )
        const [low, high] = a < b ? [a, b] : [b, a]
        expect(curveTime(curve, low)).toBeLessThanOrEqual(curveTime(curve, high))
      }),
    )
  })
})

describe('fitCurve', () => {
  it('finds alpha and beta of a straight link through one-sided noise', () => {
    const prng = createPrng(11)
    const samples = probeSizes.flatMap((bytes) =>
      Array.from({ length: 9 }, () => ({
        bytes,
        // A third of the samples are spoilt by up to 20 ms.
        seconds:
          2 * (3e-4 + 25e-9 * bytes) * (1 + 0.05 * prng.next()) +
          (prng.next() < 0.33 ? 0.02 * prng.next() : 0),
      })),
    )
    const curve = fitCurve(samples)!
    expect(curve.alpha).toBeGreaterThan(2.7e-4)
    expect(curve.alpha).toBeLessThan(3.6e-4)
    expect(curve.beta).toBeGreaterThan(23e-9)
    expect(curve.beta).toBeLessThan(30e-9)
    expect(curve.residual).toBeLessThan(0.1)
    expect(curve.confidence).toBeGreaterThan(0.9)
  })

  it('separates the directions when the reply is short', () => {
    const up = (bytes: number) => 5e-3 + 1e-6 * bytes
    const samples = probeSizes.map((bytes) => ({ bytes, replyBytes: 32, seconds: up(bytes) + 5e-3 }))
    const curve = fitCurve(samples)!
    expect(curve.points[0]!.seconds).toBeCloseTo(5e-3, 4)
    expect(curve.points.at(-1)!.seconds).toBeCloseTo(up(262144), 4)
  })

  it('trusts many samples that agree, and not one sample', () => {
    const one = fitCurve([{ bytes: 32, seconds: 1e-3 }])!
    const many = fitCurve(Array.from({ length: 9 }, () => ({ bytes: 32, seconds: 1e-3 })))!
    expect(one.confidence).toBe(0.5)
    expect(many.confidence).toBe(1)
  })

  it('ignores what no clock can give, and says so when nothing is left', () => {
    expect(fitCurve([])).toBeUndefined()
    expect(
      fitCurve([
        { bytes: 32, seconds: Number.NaN },
        { bytes: 0, seconds: 1 },
      ]),
    ).toBeUndefined()
    expect(fitCurve([{ bytes: 32, seconds: 0 }])!.points[0]!.seconds).toBeGreaterThan(0)
  })
})

describe('fitBursts', () => {
  it('tells the overhead of a message from the cost of its bytes', () => {
    const seconds = (messages: number, bytes: number) => 1e-3 + messages * 4e-5 + bytes * 3e-8
    const { overhead, beta } = fitBursts(
      [
        { messages: 6, bytes: 0, seconds: seconds(6, 0) },
        { messages: 6, bytes: 6 * 65536, seconds: seconds(6, 6 * 65536) },
      ],
      1e-3,
    )
    expect(overhead).toBeCloseTo(4e-5, 10)
    expect(beta).toBeCloseTo(3e-8, 12)
  })
})

describe('fitBursts where windows rule', () => {
  it('finds nothing shared when a burst takes as long as one of its messages alone', () => {
    const alone = (bytes: number) => (bytes > 4700 ? 0.08 : 0.01)
    const bursts = [32, 65536].map((each) => ({ messages: 42, bytes: 42 * each, seconds: alone(each) }))
    expect(fitBursts(bursts, alone)).toEqual({ overhead: 0, beta: 0 })
    expect(fitBursts(bursts, 0.01).beta).toBeGreaterThan(0)
  })
})

describe('rows', () => {
  it('travel as Float32 and come back', () => {
    const sent = measurement([undefined, line(1e-3, 1e-8), line(2e-3, 2e-8)])
    const row = encodeRow(sent)
    expect(row.length).toBe(rowLength(3))
    const got = decodeRow(row, 3)
    expect(got.links[0]).toBeUndefined()
    expect(got.gamma).toBeCloseTo(1e-9, 15)
    for (const bytes of probeSizes)
      expect(curveTime(got.links[2]!, bytes) / curveTime(sent.links[2]!, bytes)).toBeCloseTo(1, 6)
    expect(encodeRow(got)).toEqual(row)
  })

  it('keep sizes that were not measured empty', () => {
    const short = curveThrough(
      [
        { bytes: 32, seconds: 1e-3 },
        { bytes: 4608, seconds: 2e-3 },
      ],
      0.5,
    )
    const got = decodeRow(encodeRow(measurement([undefined, short])), 2).links[1]!
    expect(got.points.map((point) => point.bytes)).toEqual([32, 1024, 4608])
    expect(got.confidence).toBe(0.5)
  })

  it('are refused when their length is wrong', () => {
    expect(() => decodeRow(new Float32Array(3), 2)).toThrow(/2 ranks has 29 numbers, not 3/)
  })
})

describe('foldModel', () => {
  it('is the same from the same rows, and takes the slowest rank', () => {
    const rows = [0, 1, 2].map((rank) =>
      encodeRow(
        measurement(
          [0, 1, 2].map((to) => (to === rank ? undefined : line(1e-3 * (1 + rank), 1e-8 * (1 + to)))),
          (1 + rank) * 1e-9,
        ),
      ),
    )
    const model = foldModel(rows, 4)
    expect(
      foldModel(
        rows.map((row) => row.slice()),
        4,
      ),
    ).toEqual(model)
    expect(model.version).toBe(4)
    expect(model.gamma).toBeCloseTo(3e-9, 14)
    expect(model.hosts!.map((host) => Math.round(host.gamma * 1e9))).toEqual([1, 2, 3])
    expect(model.links[2]![0]!.alpha).toBeCloseTo(3e-3, 6)
    expect(model.links[1]![1]).toBeUndefined()
    expect(model.sharedBeta).toBeCloseTo(1e-8, 12)
  })

  it('takes the other direction where one was not measured', () => {
    const model = foldModel(
      [encodeRow(measurement([undefined, line(1e-3, 1e-8)])), encodeRow(measurement([undefined, undefined]))],
      1,
    )
    expect(model.links[1]![0]).toEqual(model.links[0]![1])
  })

  it('survives rows of noise', () => {
    const numbers = fc.float32Array({ minLength: rowLength(2), maxLength: rowLength(2) })
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const model = foldModel([a, b], 1)
        for (const curve of [model.links[0]![1], model.links[1]![0]])
          if (curve) for (const point of curve.points) expect(point.seconds).toBeGreaterThan(0)
        expect(model.gamma).toBeGreaterThan(0)
      }),
    )
  })
})

describe('guessModel', () => {
  it('is version 0 with every link alike and no confidence', () => {
    const model = guessModel(3)
    expect(model.version).toBe(0)
    expect(model.links[0]![0]).toBeUndefined()
    expect(model.links[0]![1]).toBe(model.links[2]![1])
    expect(model.links[0]![1]!.confidence).toBe(0)
    expect(model.links[0]![1]!.residual).toBeLessThan(1e-12)
  })
})
