import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { choose, chooseSchedule } from '../../../shared/cost/choose.ts'
import { guessModel } from '../../../shared/cost/fit.ts'
import { classroom, internet, loopback, modelOf, windowCurve } from '../../../shared/cost/scenarios.ts'
import type { Choice, ChoiceRequest, NetworkModel } from '../../../shared/cost/types.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { bestPiecesOf } from '../../../shared/schedule/pipeline.ts'
import { algorithms, findAlgorithm } from '../../../shared/schedule/registry.ts'
import type { Settings } from '../../../shared/schedule/types.ts'
import { interpret } from '../../support/interpret.ts'
import { lineModel } from './networks.ts'

const call = (size: number, bytes: number, more: Partial<ChoiceRequest> = {}): ChoiceRequest => ({
  size,
  bytes,
  rounds: true,
  commutative: true,
  idempotent: false,
  consistency: 'fast',
  ...more,
})

/** A network by a few numbers, so that a counterexample is short. */
const anyNetwork = fc.record({
  size: fc.integer({ min: 2, max: 11 }),
  kind: fc.constantFrom('line', 'window', 'loopback', 'classroom', 'internet'),
  alpha: fc.integer({ min: 10, max: 100_000 }).map((microseconds) => microseconds * 1e-6),
  beta: fc.integer({ min: 1, max: 1000 }).map((nanoseconds) => nanoseconds * 1e-9),
})

function modelFor({
  size,
  kind,
  alpha,
  beta,
}: typeof anyNetwork extends fc.Arbitrary<infer T> ? T : never): NetworkModel {
  if (kind === 'loopback') return modelOf(loopback(size))
  if (kind === 'classroom') return modelOf(classroom(size))
  if (kind === 'internet') return modelOf(internet(size, Math.round(alpha * 1e6)))
  const curve = windowCurve({ latency: alpha, beta, firstFlight: 4700 })
  const line = { alpha, beta, gamma: 1e-9, overhead: alpha / 20, hostBeta: beta }
  return lineModel(size, kind === 'line' ? line : { ...line, link: () => curve })
}

describe('auto', () => {
  it('is never slower than any candidate, and adds its parts up', () => {
    fc.assert(
      fc.property(anyNetwork, fc.integer({ min: 0, max: 21 }), (network, exponent) => {
        const model = modelFor(network)
        const { chosen, candidates } = choose(call(model.size, 2 ** exponent), model, algorithms)
        for (const candidate of candidates) {
          expect(chosen.seconds).toBeLessThanOrEqual(candidate.seconds + 1e-9)
          const { alpha, beta, gamma } = candidate.parts
          expect((alpha + beta + gamma) / candidate.seconds).toBeCloseTo(1, 9)
        }
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })

  it('is the same from the same inputs, to the bit', () => {
    const model = modelOf(internet(6))
    const copy = JSON.parse(JSON.stringify(model, (_, value) => (value === undefined ? null : value)))
    copy.links = copy.links.map((row: unknown[]) => row.map((curve) => curve ?? undefined))
    for (const bytes of [8, 3000, 200_000])
      expect(choose(call(6, bytes), copy, algorithms)).toEqual(choose(call(6, bytes), model, algorithms))
  })

  it('takes few steps for short vectors and few bytes for long ones', () => {
    const model = lineModel(7, { alpha: 1e-3, beta: 1e-7, hostBeta: 1e-7, overhead: 1e-5 })
    const short = choose(call(7, 8), model, algorithms).chosen
    const long = choose(call(7, 2 ** 24), model, algorithms).chosen
    expect(short.steps).toBe(1)
    expect(long.bytesSent).toBeCloseTo((12 / 7) * 2 ** 24, 0)
  })

  it('keeps the bits equal on all ranks when asked', () => {
    const model = guessModel(7)
    const { chosen, candidates, refused } = choose(
      call(7, 425, { consistency: 'identical' }),
      model,
      algorithms,
    )
    expect(chosen.identical).toBe(true)
    expect(candidates.every((candidate) => candidate.identical)).toBe(true)
    expect(refused.some(({ reason }) => /last bits of a float result/.test(reason))).toBe(true)
    const whole = choose(call(7, 425, { consistency: 'identical', rounds: false }), model, algorithms)
    expect(whole.refused.some(({ reason }) => /last bits/.test(reason))).toBe(false)
  })

  it('never proposes what the call or the network forbids', () => {
    const model = guessModel(6)
    for (const commutative of [true, false])
      for (const idempotent of [true, false])
        for (const links of ['all', 'some'] as const) {
          const { candidates } = choose(call(6, 1e5, { commutative, idempotent, links }), model, algorithms)
          for (const { algorithm: name, settings } of candidates) {
            const algorithm = algorithms.find((a) => a.name === name && a.collective === 'allreduce')!
            expect(algorithm.baseline).toBe(false)
            expect(algorithm.refuses(6, settings)).toBeUndefined()
            if (!commutative) expect(algorithm.ordered(6, settings)).toBe(true)
            if (!idempotent) expect(algorithm.restrictions.idempotent).toBe(false)
            if (links === 'some') expect(algorithm.restrictions.links).toBe('some')
          }
        }
  })

  it('offers operators that do not commute what keeps rank order, the XOR butterfly too: words stay sentences', () => {
    for (const size of [2, 3, 4, 6, 8, 12, 16]) {
      const words = Array.from({ length: size }, (_, rank) => `${rank} `)
      const { candidates, refused } = choose(
        call(size, 5000, { commutative: false }),
        guessModel(size),
        algorithms,
      )
      for (const { algorithm: name, settings } of candidates) {
        const schedule = buildSchedule(findAlgorithm(name, 'allreduce'), size, settings)
        const results = interpret(
          schedule,
          (rank) => words[rank]!,
          (left, right) => left + right,
        )
        expect(new Set(results.flat()), `${name} ${JSON.stringify(settings)}`).toEqual(
          new Set([words.join('')]),
        )
      }
      const offered = [...candidates, ...refused.filter(({ reason }) => /same as with/.test(reason))]
      const has = (algorithm: string, settings: Settings) =>
        offered.some((one) => one.algorithm === algorithm && isDeepStrictEqual(one.settings, settings))
      if (size === 8) for (const r of [0, 1, 2, 3]) expect(has('butterfly', { r, group: 'xor' })).toBe(true)
      if (size === 12) expect(has('butterfly', { r: 1, group: '2x2x3' })).toBe(false)
      if (size > 2) expect(refused.some(({ reason }) => /is not commutative/.test(reason))).toBe(true)
    }
  })

  it('respects the memory that a rank can spare', () => {
    const model = guessModel(7)
    const { refused } = choose(call(7, 1e6, { memoryBytes: 1e5 }), model, algorithms)
    expect(refused.some(({ reason }) => /bytes of work space, more than 100000/.test(reason))).toBe(true)
  })

  it('cuts a pipeline into ever more pieces until the time rises, the textbook number among them', () => {
    const model = lineModel(7, { alpha: 1e-4, beta: 1e-7, hostBeta: 1e-8, overhead: 1e-6 })
    const piecesOf = (bytes: number) =>
      choose(call(7, bytes), model, algorithms)
        .candidates.filter(({ algorithm }) => algorithm === 'chain')
        .map(({ settings }) => Number(settings.pieces))
    const { alpha, beta } = model.links[0]![1]!
    const cost = { bytes: 40_000, alpha: alpha + model.overhead, beta }
    const textbook = bestPiecesOf(findAlgorithm('chain', 'allreduce'), 7, { root: 3 }, cost)
    expect([1, 2, 4, 8, 16, 32, 64]).not.toContain(textbook)
    expect(piecesOf(40_000)).toContain(textbook)
    expect(Math.max(...piecesOf(8))).toBeLessThan(64)
    const { refused } = choose(call(7, 8), model, algorithms)
    expect(
      refused.filter(({ reason }) => /with more the time only rises/.test(reason)).length,
    ).toBeGreaterThan(0)
  })

  it('leaves groups of ranks alone where no gap between the links parts them', () => {
    const named = (choice: Pick<Choice, 'candidates'>) =>
      choice.candidates.filter(({ algorithm }) => algorithm === 'ahc')
    const { refused, ...rest } = choose(call(6, 1e5), modelOf(loopback(6)), algorithms)
    expect(named(rest)).toEqual([])
    expect(refused.some(({ reason }) => /no gap|a gap between the links/.test(reason))).toBe(true)
    const given = choose(call(6, 1e5, { settings: { groups: '2+4' } }), modelOf(loopback(6)), algorithms)
    expect(named(given).every(({ settings }) => settings.groups === '2+4')).toBe(true)
    expect(named(given).length).toBeGreaterThan(0)
  })

  it('says of each reason whom it keeps out when nothing is left', () => {
    const only = algorithms.filter(({ name }) => ['star', 'butterfly', 'ring'].includes(name))
    const request = call(7, 425, { commutative: false })
    expect(() => choose(request, guessModel(7), only)).toThrow(
      /^No allreduce algorithm fits this call of 7 ranks\. butterfly, ring: It combines in another order.* star: A baseline/,
    )
  })

  it('works for one rank', () => {
    expect(choose(call(1, 1e6), guessModel(1), algorithms).chosen.seconds).toBe(0)
  })
})

describe('a named algorithm', () => {
  const model = modelOf(loopback(7))

  it('runs as named, even a baseline', () => {
    expect(choose(call(7, 1e6, { algorithm: 'star' }), model, algorithms).chosen.algorithm).toBe('star')
    const { chosen, candidates } = choose(call(7, 1e6, { algorithm: 'butterfly', r: 2 }), model, algorithms)
    expect(chosen.settings.r).toBe(2)
    expect(candidates).toHaveLength(1)
  })

  it('is refused with the reason when the call does not admit it', () => {
    const request = call(7, 1e6, { algorithm: 'butterfly', r: 2, consistency: 'identical' })
    expect(() => choose(request, model, algorithms)).toThrow(
      /butterfly.*cannot be used by 7 ranks.*'fast' admits it/,
    )
    expect(() => choose(call(7, 1, { algorithm: 'butterfly', r: 9 }), model, algorithms)).toThrow(/butterfly/)
    expect(() => choose(call(7, 1, { algorithm: 'nonsense' }), model, algorithms)).toThrow(
      /no allreduce algorithm "nonsense".*butterfly/,
    )
    expect(() => choose(call(7, 1, { algorithm: 'ring', r: 1 }), model, algorithms)).toThrow(/no parameter r/)
  })

  it('leaves a parameter to the choice when it is auto', () => {
    const { candidates } = choose(
      call(7, 1e6, { algorithm: 'window', settings: { window: 'auto' } }),
      model,
      algorithms,
    )
    expect(candidates.length).toBeGreaterThan(1)
  })
})

describe('the butterfly with r left open', () => {
  const rOf = (model: NetworkModel, bytes: number, more: Partial<ChoiceRequest> = {}) =>
    Number(
      choose(call(model.size, bytes, { algorithm: 'butterfly', r: 'auto', ...more }), model, algorithms)
        .chosen.settings.r,
    )

  it('removes steps at 425 B and none at 4 MiB', () => {
    for (const model of [guessModel(7), modelOf(loopback(7)), modelOf(loopback(8)), modelOf(classroom(7))]) {
      expect(rOf(model, 425)).toBeGreaterThan(0)
      expect(rOf(model, 2 ** 22)).toBe(0)
    }
  })

  it('never removes more steps for a longer vector, on any network', () => {
    fc.assert(
      fc.property(
        anyNetwork,
        fc.array(fc.nat(2 ** 23), { minLength: 2, maxLength: 12 }),
        (network, sizes) => {
          const model = modelFor(network)
          const ascending = [...sizes, ...sizes.map((bytes) => bytes >> 12)].sort((a, b) => a - b)
          const chosen = ascending.map((bytes) => rOf(model, bytes))
          for (let i = 1; i < chosen.length; i++) expect(chosen[i]).toBeLessThanOrEqual(chosen[i - 1]!)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('is the fastest r on straight links that each rank has one line for', () => {
    for (const size of [5, 7, 8, 12]) {
      const model = lineModel(size, { alpha: 1e-3, beta: 1e-7, gamma: 1e-9, hostBeta: 1e-7 })
      for (let bytes = 8; bytes < 65536; bytes = Math.ceil(bytes * 1.7)) {
        const { chosen, candidates } = choose(
          call(size, bytes, { algorithm: 'butterfly', r: 'auto' }),
          model,
          algorithms,
        )
        expect(chosen.seconds).toBeLessThanOrEqual(candidates[0]!.seconds * 1.0001)
      }
    }
  })

  it('is 0 where the bits must be equal and P is odd', () => {
    expect(rOf(guessModel(7), 8, { consistency: 'identical' })).toBe(0)
    expect(rOf(guessModel(8), 8, { consistency: 'identical' })).toBe(3)
  })
})

describe('chooseSchedule', () => {
  it('remembers its choices per model', () => {
    const model = guessModel(5)
    const first = chooseSchedule(call(5, 1234), model)
    expect(chooseSchedule(call(5, 1234), model)).toBe(first)
    expect(chooseSchedule(call(5, 1234), guessModel(5))).not.toBe(first)
    expect(first.algorithm.name).toBe(first.chosen.algorithm)
  })
})
