import { expect, test } from 'vitest'
import { InvariantError } from '../../../shared/base/assert.ts'
import { createDraft } from '../../../shared/schedule/compose.ts'
import { declare, range } from '../../../shared/schedule/declare.ts'
import { ring } from '../../../shared/schedule/ring.ts'
import type { RankSchedule } from '../../../shared/schedule/types.ts'
import { prove } from '../../support/prove.ts'

const anything = { commutative: true, idempotent: false, links: 'some' } as const

/** Even ranks run a ring over the first half of the vector, then all run one over everything. */
const ringOfRings = declare({
  name: 'ring-of-rings',
  title: 'Ring inside each residue class, then between the two',
  collective: 'allreduce',
  source: 'test',
  restrictions: anything,
  steps: (size) => size - 2 + 2,
  chunks: (size) => size,
  part(size, _settings, rank) {
    const inside = size / 2
    const draft = createDraft(rank)
    for (const chunk of range(0, size)) draft.input(chunk)
    const ownClass = (index: number) => 2 * index + (rank % 2)
    const pairs = range(0, inside)
    draft.embed(ring.part(inside, {}, rank >> 1), {
      at: 0,
      ranks: ownClass,
      chunks: (chunk) => [2 * chunk, 2 * chunk + 1],
    })
    draft.embed(ring.part(2, {}, rank % 2), {
      at: size - 2,
      ranks: (index) => rank - (rank % 2) + index,
      chunks: (chunk) => pairs.map((pair) => 2 * pair + chunk),
    })
    return draft.finish(size)
  },
})

test('a schedule runs on some of the ranks, with several chunks for each of its own', () => {
  for (const size of [4, 6, 10]) {
    const { facts, sent, schedule } = prove(ringOfRings, size)
    expect(facts).toMatchObject({ identical: true, once: true })
    expect(sent).toBeCloseTo((2 * (size / 2 - 1)) / (size / 2) + 1)
    for (const part of schedule.ranks) expect(part.slots).toHaveLength(size)
  }
})

/** Starts from two copies of its contribution: one stays, one is combined with the peer's. */
const twin = (rank: number): RankSchedule => ({
  rank,
  slots: [0, 0],
  input: [0, 1],
  steps: [
    {
      sends: [{ to: 1 - rank, slots: [0] }],
      receives: [{ from: 1 - rank, slots: [1], how: rank === 0 ? 'append' : 'prepend' }],
      locals: [],
    },
  ],
  output: [1],
})

test('a second copy of the own contribution is made before the part that wants it', () => {
  const draft = createDraft(0)
  draft.input(0)
  draft.embed(twin(0), { at: 1 })
  const part = draft.finish(2)
  expect(part.input).toEqual([0])
  expect(part.steps[0]?.locals).toEqual([{ from: 0, slot: 1, how: 'store' }])
  expect(part.output).toEqual([1])

  const first = createDraft(0)
  first.input(0)
  first.embed(twin(0), { at: 0 })
  expect(first.finish(1).input).toEqual([0, 1])
})

test('slots that are done with serve the next part', () => {
  const draft = createDraft(1)
  draft.input(0)
  for (let at = 0; at < 4; at++) draft.embed(twin(1), { at })
  expect(draft.finish(4).slots).toHaveLength(2)
})

test('what two parts send to one rank in one step is one message', () => {
  const draft = createDraft(0)
  const [a, b] = [draft.input(0), draft.input(1)]
  draft.send(0, 1, [a])
  draft.receive(0, 1, [b], 'append')
  draft.send(0, 1, [b])
  draft.receive(0, 1, [a], 'append')
  expect(draft.finish(1).steps).toEqual([
    {
      sends: [{ to: 1, slots: [a, b] }],
      receives: [{ from: 1, slots: [b, a], how: 'append' }],
      locals: [],
    },
  ])
})

test('what is written in two ways is received apart and written in the order of the parts', () => {
  const draft = createDraft(0)
  const [a, b, c] = [draft.input(0), draft.slot(1), draft.input(2)]
  for (const step of [0, 1]) {
    draft.receive(step, 1, [a], 'append')
    draft.receive(step, 1, [b], 'store')
    draft.receive(step, 1, [c], 'prepend')
  }
  const part = draft.finish(2, [a, b, c])
  expect(part.slots).toEqual([0, 1, 2, 0, 2])
  for (const step of part.steps) {
    expect(step).toEqual({
      sends: [],
      receives: [{ from: 1, slots: [3, b, 4], how: 'store' }],
      locals: [
        { from: 3, slot: a, how: 'append' },
        { from: 4, slot: c, how: 'prepend' },
      ],
    })
  }
})

test('steps beyond the end and values that nobody holds are bugs', () => {
  const draft = createDraft(0)
  draft.send(1, 1, [draft.input(0)])
  expect(() => draft.finish(1)).toThrow(InvariantError)
  expect(() => draft.held(1)).toThrow(InvariantError)
})
