import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networkOf } from '../../../shared/cost/network.ts'
import { predict, predictSchedule, trafficOf } from '../../../shared/cost/predict.ts'
import { createPricer } from '../../../shared/cost/price.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { algorithms, findAlgorithm } from '../../../shared/schedule/registry.ts'
import { lineCurve, lineModel } from './networks.ts'

const ring = findAlgorithm('ring', 'allreduce')
const star = findAlgorithm('star', 'allreduce')

describe('predict', () => {
  it('is the formula of the ring on straight links', () => {
    for (const size of [2, 3, 7, 8]) {
      const [alpha, beta, gamma, bytes] = [2e-3, 1e-7, 1e-9, 40_000]
      const { seconds, parts, steps, bytesSent } = predict(
        ring,
        {},
        bytes,
        lineModel(size, { alpha, beta, gamma }),
      )
      const chunk = bytes / size
      expect(steps).toBe(2 * (size - 1))
      expect(bytesSent).toBeCloseTo(2 * (size - 1) * chunk, 6)
      expect(seconds).toBeCloseTo(2 * (size - 1) * (alpha + chunk * beta) + (size - 1) * chunk * gamma, 9)
      expect(parts.alpha).toBeCloseTo(2 * (size - 1) * alpha, 5)
      expect(parts.gamma).toBeCloseTo((size - 1) * chunk * gamma, 9)
      expect(parts.alpha + parts.beta + parts.gamma).toBeCloseTo(seconds, 12)
    }
  })

  it('costs nothing for one rank', () => {
    expect(predict(ring, {}, 1e6, lineModel(1))).toMatchObject({ seconds: 0, steps: 0, bytesSent: 0 })
  })

  it('overlaps the latencies of messages to several peers, and shares their bytes on the uplink', () => {
    const size = 5
    const bytes = 1000
    const model = lineModel(size, { alpha: 1e-3, beta: 1e-7, hostBeta: 1e-7, overhead: 1e-5 })
    // In: all but the root send at once and share its downlink. Out: four messages over its uplink.
    const oneWay = 1e-3 + 4 * bytes * 1e-7
    const { seconds } = predict(star, { root: 0 }, bytes, model)
    expect(seconds).toBeGreaterThan(2 * oneWay - 1e-9)
    expect(seconds).toBeLessThan(2 * oneWay + 8 * 1e-5)
  })

  it('waits for the slowest link of each step that depends on it', () => {
    const even = predict(ring, {}, 8000, lineModel(4))
    const slow = predict(
      ring,
      {},
      8000,
      lineModel(4, {
        link: (from, to) => (from + to === 3 && from * to === 2 ? lineCurve(50e-3, 1e-7) : undefined),
      }),
    )
    expect(slow.seconds).toBeGreaterThan(even.seconds + 49e-3)
    // The wave of the delay goes round once in 6 steps, not once per step.
    expect(slow.seconds).toBeLessThan(even.seconds + 3 * 49e-3)
  })

  it('lets the bytes of all ranks rule where everything is shared', () => {
    const bytes = 2 ** 20
    for (const size of [2, 4, 8]) {
      const { seconds } = predict(
        ring,
        {},
        bytes,
        lineModel(size, { alpha: 1e-4, beta: 2e-8, sharedBeta: 2e-8 }),
      )
      const floor = 2 * (size - 1) * bytes * 2e-8
      expect(seconds).toBeGreaterThanOrEqual(floor)
      expect(seconds).toBeLessThan(1.1 * floor + 0.01)
    }
  })

  it('prices a schedule without a registry the same', () => {
    const model = lineModel(6, { gamma: 1e-9 })
    const schedule = buildSchedule(ring, 6)
    expect(predictSchedule(schedule, 5e5, model).seconds).toBe(predict(ring, {}, 5e5, model).seconds)
  })

  it('counts a result as identical when the operator does not round', () => {
    const bruck = algorithms.find(
      (algorithm) => algorithm.collective === 'allreduce' && !algorithm.identical(7, {}),
    )
    if (!bruck) return
    expect(predict(bruck, {}, 8, lineModel(7)).identical).toBe(false)
    expect(predict(bruck, {}, 8, lineModel(7), false).identical).toBe(true)
  })
})

describe('every algorithm', () => {
  const variants = (size: number) =>
    algorithms.flatMap((algorithm) =>
      algorithm
        .variants(size)
        .filter((settings) => algorithm.refuses(size, settings) === undefined)
        .map((settings) => ({ algorithm, settings, size })),
    )
  const anyVariant = fc
    .integer({ min: 2, max: 13 })
    .chain((size) => fc.constantFrom(...variants(size)))
    .map((variant) => ({
      ...variant,
      toString: () => `${variant.algorithm.name} ${JSON.stringify(variant.settings)} P=${variant.size}`,
    }))

  it('costs the same by one rank as by all, where one stands for all', () => {
    let compared = 0
    for (const size of [2, 3, 6, 7, 8])
      for (const { algorithm, settings } of variants(size)) {
        const { one, all } = trafficOf(algorithm, size, settings)
        if (!one) continue
        compared++
        for (const bytes of [8, 5000, 3e6]) {
          const network = networkOf(lineModel(size, { gamma: 1e-9, overhead: 1e-5, hostBeta: 6e-8 }))
          const [single, full] = [createPricer(one, network)(bytes), createPricer(all(), network)(bytes)]
          const name = `${algorithm.name} ${JSON.stringify(settings)} P=${size} ${bytes} B`
          // Where messages go to several peers, or folds are in rank order, ranks differ in the order of equal
          // arrivals.
          const isStrict =
            algorithm.restrictions.commutative &&
            settings.ports === undefined &&
            !['direct', 'nhr'].includes(algorithm.name)
          expect(Math.abs(single / full - 1), name).toBeLessThan(isStrict ? 1e-9 : 0.2)
        }
      }
    expect(compared).toBeGreaterThan(7)
  })

  it('never costs less for more bytes, and its parts add up', () => {
    fc.assert(
      fc.property(anyVariant, fc.nat(2 ** 24), fc.nat(2 ** 24), ({ algorithm, settings, size }, a, b) => {
        const model = lineModel(size, { gamma: 1e-9, overhead: 1e-5, hostBeta: 5e-8, sharedBeta: 1e-9 })
        const [low, high] = a < b ? [a, b] : [b, a]
        const less = predict(algorithm, settings, low, model)
        const more = predict(algorithm, settings, high, model)
        expect(less.seconds).toBeLessThanOrEqual(more.seconds * (1 + 1e-12))
        const { alpha, beta, gamma } = more.parts
        expect(Math.min(alpha, beta, gamma)).toBeGreaterThanOrEqual(0)
        expect(alpha + beta + gamma).toBeCloseTo(more.seconds, 12)
      }),
      { numRuns: 80 },
    )
  })
})
