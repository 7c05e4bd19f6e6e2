import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  chunkBytes,
  holdingsOf,
  messageBytes,
  messagesOf,
  reduceSteps,
} from '../../../../../client/page/stage/timetable/flow.ts'
import { buildSchedule } from '../../../../../shared/schedule/build.ts'
import { algorithms, findAlgorithm } from '../../../../../shared/schedule/registry.ts'
import type { Schedule } from '../../../../../shared/schedule/types.ts'
import { butterfly, ring } from '../schedules.ts'

const allreduces = algorithms.filter((a) => a.collective === 'allreduce' && !a.restrictions.idempotent)

function everyCell(schedule: Schedule, check: (rank: number, chunk: number) => void): void {
  for (let rank = 0; rank < schedule.size; rank++)
    for (let chunk = 0; chunk < schedule.chunks; chunk++) check(rank, chunk)
}

describe('messagesOf', () => {
  it('finds the 3, 2, 1, 1, 2, 3 chunks of the butterfly for 7 ranks, and where copying begins', () => {
    const messages = messagesOf(butterfly(7))
    expect(messages.map((step) => step.map((m) => m.chunks.length))).toEqual(
      [3, 2, 1, 1, 2, 3].map((n) => Array(7).fill(n)),
    )
    expect(messages.map((step) => step[0]?.kind)).toEqual([
      'reduce',
      'reduce',
      'reduce',
      'copy',
      'copy',
      'copy',
    ])
    expect(reduceSteps(messages)).toBe(3)
  })

  it('calls a message a reduction when a local move folds it, although the receive only stores', () => {
    const oneShot = buildSchedule(findAlgorithm('one-shot', 'allreduce'), 5)
    expect(new Set(messagesOf(oneShot).flatMap((step) => step.map((m) => m.kind)))).toEqual(
      new Set(['reduce']),
    )
  })

  it('sends the whole vector in the bytes of its messages', () => {
    const [first] = messagesOf(ring(4))
    expect(messageBytes(ring(4), 4096, first![0]!)).toBe(1024)
    const uneven = { ...ring(2), cuts: [0, 0.25, 1] }
    expect([chunkBytes(uneven, 100, 0), chunkBytes(uneven, 100, 1)]).toEqual([25, 75])
  })
})

describe('holdingsOf', () => {
  it('starts with the own contribution everywhere and ends with all of them, for every allreduce', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(), (size, pick) => {
        const candidates = allreduces.flatMap((algorithm) =>
          algorithm.variants(size).map((settings) => ({ algorithm, settings })),
        )
        const { algorithm, settings } = candidates[pick % candidates.length]!
        const schedule = buildSchedule(algorithm, size, settings)
        const holdings = holdingsOf(schedule)
        expect(holdings).toHaveLength(schedule.steps + 1)
        everyCell(schedule, (rank, chunk) => {
          expect(holdings[0]!.count(rank, chunk)).toBe(1)
          expect(holdings[0]!.has(rank, chunk, rank)).toBe(true)
          expect(holdings.at(-1)!.count(rank, chunk)).toBe(size)
          expect(holdings.at(-1)!.live(rank, chunk)).toBe(true)
        })
      }),
      { numRuns: 60 },
    )
  })

  it('has every contribution of a chunk alive on exactly one rank while the butterfly reduces', () => {
    const schedule = butterfly(7)
    const holdings = holdingsOf(schedule).slice(0, 4)
    for (const at of holdings)
      for (let chunk = 0; chunk < 7; chunk++) {
        const alive = Array.from({ length: 7 }, (_, rank) => rank).filter((rank) => at.live(rank, chunk))
        const contributions = alive.flatMap((rank) =>
          Array.from({ length: 7 }, (_, i) => i).filter((i) => at.has(rank, chunk, i)),
        )
        expect(contributions.sort()).toEqual([0, 1, 2, 3, 4, 5, 6])
      }
  })

  it('counts beyond 32 ranks', () => {
    const last = holdingsOf(ring(40)).at(-1)!
    expect(last.count(39, 0)).toBe(40)
    expect(last.has(0, 39, 39)).toBe(true)
  })
})
