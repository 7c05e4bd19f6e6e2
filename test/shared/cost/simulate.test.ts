import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileAlgorithm } from '../../../shared/cost/compile.ts'
import { curveTime } from '../../../shared/cost/curve.ts'
import { createEventQueue } from '../../../shared/cost/eventQueue.ts'
import { networkOf } from '../../../shared/cost/network.ts'
import { createPricer } from '../../../shared/cost/price.ts'
import {
  classroom,
  internet,
  loopback,
  measureScenario,
  windowCurve,
} from '../../../shared/cost/scenarios.ts'
import { expandShifted } from '../../../shared/cost/shifted.ts'
import { simulate } from '../../../shared/cost/simulate.ts'
import { createStreams } from '../../../shared/cost/streams.ts'
import type { Traffic } from '../../../shared/cost/traffic.ts'
import { findAlgorithm } from '../../../shared/schedule/registry.ts'
import type { Settings } from '../../../shared/schedule/types.ts'
import { type LineOptions, lineModel } from './networks.ts'

const trafficOf = (name: string, size: number, settings: Settings = {}): Traffic =>
  compileAlgorithm(findAlgorithm(name, 'allreduce'), size, settings).all()
const lines = (size: number, options: LineOptions) => networkOf(lineModel(size, options))

describe('simulate', () => {
  it('takes the time of the ring on straight links', () => {
    const [size, alpha, beta, gamma, bytes] = [5, 2e-3, 1e-7, 1e-9, 50_000]
    const { seconds, finish, events } = simulate(
      trafficOf('ring', size),
      bytes,
      lines(size, { alpha, beta, gamma }),
    )
    const chunk = bytes / size
    expect(seconds).toBeCloseTo(2 * (size - 1) * (alpha + chunk * beta) + (size - 1) * chunk * gamma, 9)
    expect(Math.max(...finish)).toBe(seconds)
    expect(events).toBeGreaterThan(4 * 2 * (size - 1) * size - 1)
  })

  it('agrees with the price where nothing overlaps', () => {
    for (const name of ['butterfly', 'ring', 'two-shot', 'binomial'])
      for (const size of [2, 4, 7]) {
        const network = lines(size, { alpha: 1e-3, beta: 1e-7, hostBeta: 1e-7, gamma: 1e-9 })
        const traffic = trafficOf(name, size, name === 'butterfly' ? { r: 0, group: 'cyclic' } : {})
        const simulated = simulate(traffic, 20_000, network).seconds
        expect(createPricer(traffic, network)(20_000) / simulated, `${name} P=${size}`).toBeCloseTo(1, 2)
      }
  })

  it('lets segments of a long message overlap with those of the next one', () => {
    const [size, alpha, beta, bytes] = [8, 1e-3, 1e-7, 2 ** 24]
    const network = lines(size, { alpha, beta, hostBeta: beta })
    const { seconds } = simulate(trafficOf('chain', size, { root: 4, pieces: 1 }), bytes, network)
    // Up and down the chain at once: the busiest rank sends the vector twice, not 2 (P - 1) times.
    expect(seconds).toBeGreaterThan(2 * bytes * beta)
    expect(seconds).toBeLessThan(2.3 * bytes * beta)
  })

  it('waits for a straggler, and only where it must', () => {
    const network = lines(6, { alpha: 1e-3, beta: 1e-8 })
    const traffic = trafficOf('ring', 6)
    const calm = simulate(traffic, 6000, network)
    const late = simulate(traffic, 6000, network, { delayOf: (rank) => (rank === 3 ? 0.1 : 0) })
    expect(late.seconds).toBeGreaterThan(calm.seconds + 0.09)
    expect(late.seconds).toBeLessThan(calm.seconds + 0.11)
    expect(late.begin.filter((moment) => moment === 0)).toHaveLength(5)
  })

  it('lets queues of the sender, of the receiver and of what is shared rule', () => {
    const size = 5
    const bytes = 2 ** 20
    const star = trafficOf('star', size, { root: 0 })
    const alone = lines(size, { alpha: 1e-4, beta: 1e-8 })
    const line = lines(size, { alpha: 1e-4, beta: 1e-8, hostBeta: 1e-8 })
    const air = lines(size, { alpha: 1e-4, beta: 1e-8, sharedBeta: 2e-8 })
    // All at once; the root's line four times in and four times out; all messages one after the other.
    expect(simulate(star, bytes, alone).seconds).toBeLessThan(3 * bytes * 1e-8)
    expect(simulate(star, bytes, line).seconds / (8 * bytes * 1e-8)).toBeCloseTo(1, 0)
    expect(simulate(star, bytes, air).seconds / (8 * bytes * 2e-8)).toBeCloseTo(1, 1)
  })

  it('moves every byte on any network, the same way each time', () => {
    const names = ['butterfly', 'ring', 'two-shot', 'double-tree', 'binomial', 'window', 'bruck']
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.integer({ min: 2, max: 9 }),
        fc.nat(2 ** 21),
        fc.constantFrom(loopback, classroom, internet),
        (name, size, bytes, scenario) => {
          const algorithm = findAlgorithm(name, 'allreduce')
          const settings = algorithm.variants(size).find((s) => algorithm.refuses(size, s) === undefined)
          if (!settings) return
          const traffic = trafficOf(name, size, settings)
          const world = scenario(size)
          const first = simulate(traffic, bytes, world)
          expect(simulate(traffic, bytes, world)).toEqual(first)
          // No schedule is faster than its lone messages or than its lines.
          for (let node = 0; node < traffic.from.length; node++) {
            const curve = world.link(traffic.from[node]!, traffic.to[node]!)
            expect(first.end[node]! - first.begin[node]!).toBeGreaterThan(
              0.99 * curve.points[0]!.seconds - 1e-12,
            )
          }
        },
      ),
      { numRuns: 25 },
    )
  })
})

describe('a shifted schedule', () => {
  it('is the graph of all ranks', () => {
    for (const [name, settings] of [
      ['butterfly', { r: 0, group: 'cyclic' }],
      ['butterfly', { r: 2, group: 'cyclic' }],
      ['ring', {}],
    ] as const)
      for (const size of [5, 7, 12]) {
        const { one, all } = compileAlgorithm(findAlgorithm(name, 'allreduce'), size, settings)
        const world = internet(size)
        const expanded = expandShifted(one!)
        for (const bytes of [100, 500_000])
          expect(simulate(expanded, bytes, world).seconds).toBe(simulate(all(), bytes, world).seconds)
      }
  })

  it('makes P = 2000 a matter of seconds', () => {
    const size = 2000
    const traffic = trafficOf('butterfly', size, { r: 0, group: 'cyclic' })
    expect(traffic.from).toHaveLength(22 * size)
    const network = { ...loopback(size), sharedBeta: 0, sharedOverhead: 0 }
    const { seconds } = simulate(traffic, 1e6, network)
    // 2 L steps, and every rank's line carries 2 (P - 1) / P of the vector out.
    expect(seconds).toBeGreaterThan(22 * 2.5e-4)
    expect(seconds).toBeLessThan(22 * 2.5e-4 + 3 * 1e6 * 2.5e-8)
  })
})

describe('streams', () => {
  const curve = windowCurve({ latency: 5e-3, beta: 1e-7, firstFlight: 4700 })

  it('start anew after a pause and go on without one', () => {
    const streams = createStreams([curve])
    const first = streams.send(0, 0, 20_000)
    expect(first).toBe(curveTime(curve, 20_000))
    // While it is being sent: the same stream goes on.
    expect(streams.send(0, first / 2, 20_000)).toBeCloseTo(curveTime(curve, 40_000), 12)
    // Long after: a lone message again.
    expect(streams.send(0, 10, 20_000)).toBeCloseTo(10 + curveTime(curve, 20_000), 12)
  })

  it('are never worse for a message before', () => {
    const streams = createStreams([curve])
    streams.send(0, 0, 4000)
    const at = 5.5e-3
    expect(streams.send(0, at, 4000)).toBeLessThanOrEqual(at + curveTime(curve, 4000))
  })
})

describe('windowCurve', () => {
  it('has the rounds that were measured on a 10 ms round trip with a first flight of 4.7 KB', () => {
    const curve = windowCurve({ latency: 5e-3, beta: 1e-8, firstFlight: 4700 })
    const rounds = (bytes: number) =>
      Math.floor((curveTime(curve, bytes) - 5e-3 - bytes * 1e-8) / 10e-3 + 0.5)
    expect([8, 4096, 8192, 12288, 16384, 32768].map(rounds)).toEqual([0, 0, 1, 1, 2, 2])
  })

  it('is a straight line without a limit', () => {
    const curve = windowCurve({ latency: 1e-3, beta: 1e-8 })
    expect(curve.residual).toBeLessThan(1e-9)
    expect(curve.alpha).toBeCloseTo(1e-3, 9)
  })
})

describe('measureScenario', () => {
  it('finds what is there', () => {
    const model = measureScenario(loopback(6))
    expect(model.sharedBeta! / 2.5e-8).toBeCloseTo(1, 1)
    expect(model.sharedOverhead! / 2e-5).toBeCloseTo(1, 1)
    const far = internet(5)
    const measured = measureScenario(far)
    for (let to = 1; to < 5; to++)
      expect(curveTime(measured.links[0]![to]!, 16384) / curveTime(far.link(0, to), 16384)).toBeCloseTo(1, 2)
    // The tail is that of the slower host, not the slope of a window that still grows.
    expect(measured.links[0]![1]!.tail! / Math.max(far.host(0).hostBeta, far.host(1).hostBeta)).toBeLessThan(
      1.3,
    )
  })
})

describe('the event queue', () => {
  it('gives events by time and equal ones in order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), (times) => {
        const queue = createEventQueue()
        for (const [i, time] of times.entries()) queue.push(time, 0, i)
        const event = { time: 0, kind: 0, node: 0 }
        const out: [number, number][] = []
        while (queue.pop(event)) out.push([event.time, event.node])
        expect(out).toEqual(
          times.map((time, i): [number, number] => [time, i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]),
        )
      }),
    )
  })
})
