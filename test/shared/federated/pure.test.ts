/** The parts of a round that are plain functions: optimizers, rates, buckets, decisions. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ArgumentError, NonFiniteError, NoSamplesError } from '../../../shared/base/errors.ts'
import { bucketBytesOf, bucketsOf } from '../../../shared/federated/buckets.ts'
import { decideRound, type Row, rowFromNumbers, rowToNumbers } from '../../../shared/federated/decide.ts'
import { optimizerStep, type ServerOptimizer, startOptimizer } from '../../../shared/federated/optimizer.ts'
import { rateAt } from '../../../shared/federated/rates.ts'

describe('optimizers', () => {
  const updates = [new Float32Array([1, -2]), new Float32Array([0.5, 0]), new Float32Array([-1, 4])]
  const walk = (optimizer: ServerOptimizer) => {
    let state = startOptimizer(optimizer, 2)
    return updates.map((update, round) => {
      const next = optimizerStep(optimizer, state, update, round)
      state = next.state
      return [...next.step]
    })
  }

  it('average: the update itself, times the rate of the round', () => {
    expect(walk({ kind: 'average' })).toEqual(updates.map((update) => [...update]))
    expect(walk({ kind: 'average', rate: [1, 0.5] })[1]).toEqual([0.25, 0])
  })

  it('momentum: a sum that fades', () => {
    expect(walk({ kind: 'momentum', momentum: 0.5, rate: 2 })).toEqual([
      [2, -4],
      [2, -2],
      [-1, 7],
    ])
  })

  it.each(['adam', 'yogi'] as const)('%s: Algorithm 2 of Reddi et al.', (kind) => {
    const [beta1, beta2, tau, rate] = [0.9, 0.99, 0.001, 0.01]
    for (const element of [0, 1]) {
      let m = 0
      let v = tau ** 2
      const expected = updates.map((update) => {
        const u = update[element]!
        m = beta1 * m + (1 - beta1) * u
        v = kind === 'adam' ? beta2 * v + (1 - beta2) * u * u : v - (1 - beta2) * u * u * Math.sign(v - u * u)
        return (rate * m) / (Math.sqrt(v) + tau)
      })
      for (const [round, step] of walk({ kind }).entries())
        expect(step[element]).toBeCloseTo(expected[round]!, 14)
    }
  })
})

describe('rates', () => {
  it('follow their form', () => {
    expect([0, 1, 2, 9].map((round) => rateAt([3, 2, 1], round))).toEqual([3, 2, 1, 1])
    expect(
      [0, 4, 5, 10].map((round) => rateAt({ kind: 'steps', from: 8, factor: 0.5, every: 5 }, round)),
    ).toEqual([8, 8, 4, 2])
    const cosine = { kind: 'cosine', from: 1, to: 0.2, rounds: 10 } as const
    expect([0, 5, 10, 99].map((round) => rateAt(cosine, round))).toEqual([1, 0.6000000000000001, 0.2, 0.2])
    expect([0, 1, 3, 9].map((round) => rateAt({ kind: 'warm-up', rounds: 4, rate: 2 }, round))).toEqual([
      0.5, 1, 2, 2,
    ])
    expect(() => rateAt([], 0)).toThrow(ArgumentError)
  })
})

describe('buckets', () => {
  it('cover every element once, in order', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5000 }),
        fc.constantFrom(4, 8),
        fc.integer({ min: 1, max: 9000 }),
        (count, bytes, bucket) => {
          const bounds = bucketsOf(count, bytes, bucket)
          expect(bounds[0]?.[0] ?? 0).toBe(0)
          expect(bounds.at(-1)?.[1] ?? 0).toBe(count)
          for (const [i, [begin, end]] of bounds.entries()) {
            expect(begin).toBe(i === 0 ? 0 : bounds[i - 1]![1])
            expect(end).toBeGreaterThan(begin)
          }
        },
      ),
      { numRuns: 30 },
    ))

  it('are about where producing and overhead balance', () => {
    const model = { gamma: 1e-9, overhead: 1e-4 }
    const total = (_bytes: number, produce: number, count: number) =>
      produce / count + count * 4 * 3 * model.overhead
    for (const produce of [0.001, 0.1, 1]) {
      const bytes = 64e6
      const count = Math.round(bytes / bucketBytesOf(bytes, 7, model, produce))
      for (const other of [count / 2, 2 * count])
        if (other >= 4 && other <= 900)
          expect(total(bytes, produce, count)).toBeLessThanOrEqual(total(bytes, produce, other) * 1.01)
    }
    expect(bucketBytesOf(1000, 7, model)).toBe(65_536)
  })
})

describe('a decision', () => {
  const row = (rank: number, fields: Partial<Row> = {}): Row => ({
    peer: { rank, peerId: `p${rank}`, name: `Rank ${rank}` },
    hasTurn: true,
    isSynced: true,
    wantsStop: false,
    hasFailed: false,
    isFinite: true,
    round: 4,
    state: '00c0ffee12345678',
    stateBytes: 100,
    bucketBytes: 65_536,
    samples: 10,
    norm: 1,
    peak: 0.1,
    trainSeconds: 2,
    metrics: [0.5, Number.NaN],
    ...fields,
  })

  it('survives the way over the wire', () => {
    const original = row(2, { wantsStop: true, isFinite: false, state: 'ffffffff00000001' })
    expect(rowFromNumbers(original.peer, rowToNumbers(original))).toEqual(original)
    const hostile = rowFromNumbers(original.peer, [
      2,
      9,
      -1,
      1,
      1,
      -5,
      Number.NaN,
      1e300,
      Number.POSITIVE_INFINITY,
      -1,
      -1,
      -1,
      -1,
      -1,
    ])
    expect(hostile).toMatchObject({
      hasTurn: false,
      round: 0,
      stateBytes: 0,
      bucketBytes: 0,
      samples: 0,
      norm: 0,
    })
  })

  it('takes the state that most trained members hold, of these the newest, and of these the first rank', () => {
    const sourceOf = (...rows: Row[]) => decideRound(rows, {}).source.peer.rank
    expect(sourceOf(row(0), row(1))).toBe(0)
    expect(sourceOf(row(0, { round: 3 }), row(1), row(2))).toBe(1)
    expect(sourceOf(row(0), row(1, { round: 9, state: 'bad' }), row(2))).toBe(0)
    expect(sourceOf(row(0, { round: 3 }), row(1))).toBe(1)
    expect(sourceOf(row(0, { round: 9, isSynced: false }), row(1, { round: 1 }))).toBe(1)
    expect(sourceOf(row(0, { isSynced: false }), row(1, { isSynced: false }))).toBe(0)
    expect(sourceOf(row(0, { round: 0, isSynced: false }), row(1, { round: 0 }))).toBe(1)
  })

  it('counts nobody whose update began elsewhere', () => {
    const { stale, counted, excluded } = decideRound(
      [row(0), row(1, { state: '0' }), row(2, { round: 3 }), row(3, { hasTurn: false })],
      {},
    )
    expect(stale.map(({ peer }) => peer.rank)).toEqual([1, 2])
    expect(counted.map(({ peer }) => peer.rank)).toEqual([0])
    expect(excluded.map(({ row: { peer }, why }) => [peer.rank, why])).toEqual([
      [1, 'newcomer'],
      [2, 'newcomer'],
      [3, 'newcomer'],
    ])
  })

  it('guards against NaN and outliers', () => {
    const rows = [row(0), row(1, { norm: 1.2 }), row(2, { norm: 12 }), row(3, { isFinite: false })]
    const { excluded } = decideRound(rows, { maxNormRatio: 5 })
    expect(excluded.map(({ row: { peer }, why }) => [peer.rank, why])).toEqual([
      [3, 'non-finite'],
      [2, 'outlier'],
    ])
    expect(() => decideRound(rows, { nonFinite: 'error' })).toThrow(NonFiniteError)
    expect(() => decideRound([row(0, { samples: 0 })], {})).toThrow(NoSamplesError)
  })
})
