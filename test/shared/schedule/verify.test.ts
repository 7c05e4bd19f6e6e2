import { describe, expect, test } from 'vitest'
import { ScheduleError } from '../../../shared/base/errors.ts'
import type { RankSchedule, Schedule, Step } from '../../../shared/schedule/types.ts'
import { verifySchedule } from '../../../shared/schedule/verify.ts'

const step = (parts: Partial<Step>): Step => ({ sends: [], receives: [], locals: [], ...parts })

/** Two ranks exchange their whole vector and combine: rank 1 has the operands the other way round. */
function exchange(): Schedule {
  const part = (rank: number): RankSchedule => ({
    rank,
    slots: [0],
    input: [0],
    steps: [
      step({
        sends: [{ to: 1 - rank, slots: [0] }],
        receives: [{ from: 1 - rank, slots: [0], how: 'append' }],
      }),
    ],
    output: [0],
  })
  return {
    collective: 'allreduce',
    algorithm: 'exchange',
    settings: {},
    size: 2,
    steps: 1,
    chunks: 1,
    ranks: [part(0), part(1)],
  }
}

/** The exchange with rank 1's part changed. */
function broken(change: Partial<RankSchedule>): Schedule {
  const schedule = exchange()
  return { ...schedule, ranks: [schedule.ranks[0]!, { ...schedule.ranks[1]!, ...change }] }
}

const send = { to: 0, slots: [0] }
const receive = { from: 0, slots: [0], how: 'append' } as const

describe('the facts', () => {
  test('x + y and y + x have the same bits, but not the same order', () => {
    expect(verifySchedule(exchange())).toEqual({
      identical: true,
      ordered: false,
      rankFold: false,
      once: true,
    })
  })

  test('with the operands in rank order on both ranks', () => {
    const prepending = broken({
      steps: [step({ sends: [send], receives: [{ ...receive, how: 'prepend' }] })],
    })
    expect(verifySchedule(prepending)).toMatchObject({ ordered: true, rankFold: true })
  })

  test('(0 + 1) + (2 + 3) is in rank order but no fold from the left', () => {
    const idle = step({})
    const part = (rank: number, steps: Step[], output: number[] = []): RankSchedule => ({
      rank,
      slots: [0],
      input: [0],
      steps,
      output,
    })
    const give = (to: number) => step({ sends: [{ to, slots: [0] }] })
    const take = (from: number) => step({ receives: [{ from, slots: [0], how: 'append' }] })
    const tree: Schedule = {
      ...exchange(),
      collective: 'reduce',
      size: 4,
      steps: 2,
      root: 0,
      ranks: [
        part(0, [take(1), take(2)], [0]),
        part(1, [give(0), idle]),
        part(2, [take(3), give(0)]),
        part(3, [give(2), idle]),
      ],
    }
    expect(verifySchedule(tree)).toEqual({ identical: true, ordered: true, rankFold: false, once: true })
  })
})

describe('a fault is named with rank, step and slot', () => {
  const faults: readonly [name: string, schedule: Schedule, message: string, place: [number, number]][] = [
    [
      'a message that nobody waits for',
      broken({ steps: [step({ sends: [send] })] }),
      'Rank 1, step 0: does not receive what rank 0 sends',
      [1, 0],
    ],
    [
      'a message that never comes',
      broken({ steps: [step({ receives: [receive] })] }),
      'Rank 0, step 0: waits for rank 1, which sends nothing',
      [0, 0],
    ],
    [
      'a message of the wrong length',
      broken({ slots: [0, 0], steps: [step({ sends: [send], receives: [{ ...receive, slots: [0, 1] }] })] }),
      'Rank 1, step 0: expects 2 slots from rank 0, which sends 1',
      [1, 0],
    ],
    [
      'two messages to one rank',
      broken({ slots: [0, 0], input: [0, 1], steps: [step({ sends: [send, { to: 0, slots: [1] }] })] }),
      'Rank 1, step 0: sends two messages to rank 0',
      [1, 0],
    ],
    [
      'a message to itself',
      broken({ steps: [step({ sends: [{ to: 1, slots: [0] }] })] }),
      'Rank 1, step 0: cannot send to rank 1',
      [1, 0],
    ],
    [
      'an empty message',
      broken({ steps: [step({ sends: [{ to: 0, slots: [] }] })] }),
      'Rank 1, step 0: sends an empty message to rank 0',
      [1, 0],
    ],
    [
      'a slot that there is not',
      broken({ steps: [step({ sends: [{ to: 0, slots: [3] }], receives: [receive] })] }),
      'Rank 1, step 0: there is no slot 3, the rank has 1',
      [1, 0],
    ],
    [
      'an empty slot that is sent',
      broken({ input: [] }),
      'Rank 1, step 0: slot 0 is sent to rank 0, but holds nothing',
      [1, 0],
    ],
    [
      'an empty slot that is combined into',
      broken({
        slots: [0, 0],
        steps: [step({ sends: [send], receives: [{ ...receive, slots: [1] }] })],
      }),
      'Rank 1, step 0: slot 1 is combined into, but holds nothing',
      [1, 0],
    ],
    [
      'an empty slot that is read by a local',
      broken({
        slots: [0, 0],
        steps: [step({ sends: [send], receives: [receive], locals: [{ from: 1, slot: 0, how: 'append' }] })],
      }),
      'Rank 1, step 0: slot 1 is read, but holds nothing',
      [1, 0],
    ],
    [
      'a contribution that is counted twice',
      broken({
        steps: [step({ sends: [send], receives: [receive], locals: [{ from: 0, slot: 0, how: 'append' }] })],
      }),
      'Rank 1, step 0: slot 0 would count the contribution of rank 1 twice',
      [1, 0],
    ],
    [
      'a result that lacks a contribution',
      broken({ steps: [step({ sends: [send], receives: [{ ...receive, how: 'store' }] })] }),
      'Rank 1, step 1: slot 0 lacks the contribution of rank 1',
      [1, 1],
    ],
    ['an output that is missing', broken({ output: [] }), 'Rank 1, step 1: the output lacks chunk 0', [1, 1]],
    [
      'an output too many',
      broken({ output: [0, 0] }),
      'Rank 1, step 1: the output has chunk 0 after chunk 0',
      [1, 1],
    ],
    [
      'a part with too few steps',
      broken({ steps: [] }),
      'Rank 1, before the first step: has 0 steps, the schedule has 1',
      [1, -1],
    ],
    [
      'a part of another rank',
      broken({ rank: 0 }),
      'Rank 1, before the first step: the part says rank 0',
      [1, -1],
    ],
    [
      'a chunk that there is not',
      broken({ slots: [1] }),
      'Rank 1, before the first step: slot 0 is for chunk 1, there are 1 chunks',
      [1, -1],
    ],
  ]

  test.each(faults)('%s', (_, schedule, message, [rank, at]) => {
    try {
      verifySchedule(schedule)
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error
      expect({ message: error.message, rank: error.rank, step: error.step }).toEqual({
        message,
        rank,
        step: at,
      })
      return
    }
    expect.fail('the fault was not found')
  })

  test('a chunk that arrives in the slot of another one', () => {
    const schedule = exchange()
    const part = { ...schedule.ranks[1]!, slots: [1, 0], input: [0, 1], output: [1, 0] }
    const two = { ...schedule, chunks: 2, ranks: [{ ...part, rank: 0, slots: [0, 1] }, part] }
    const [first, second] = exchange().ranks
    two.ranks[0] = { ...two.ranks[0]!, steps: first!.steps }
    two.ranks[1] = { ...two.ranks[1]!, steps: second!.steps }
    expect(() => verifySchedule(two)).toThrow(
      'Rank 0, step 0: slot 0 is for chunk 0, but rank 1 sends chunk 1',
    )
  })
})

test('with an idempotent operator a contribution may be counted twice', () => {
  const steps = [step({ sends: [send], receives: [receive], locals: [{ from: 0, slot: 0, how: 'append' }] })]
  expect(verifySchedule(broken({ steps }), { idempotent: true })).toMatchObject({ once: false })
})
