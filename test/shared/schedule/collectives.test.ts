import { expect, test } from 'vitest'
import { contractOf } from '../../../shared/schedule/collectives.ts'
import type { Collective } from '../../../shared/schedule/types.ts'

/** Chunks that each of two ranks holds and needs, and who contributes to each chunk. */
function table(collective: Collective, chunks: number) {
  const shape = { collective, algorithm: '', settings: {}, size: 2, steps: 0, chunks, root: 1 }
  const contract = contractOf(shape)
  const all = Array.from({ length: chunks }, (_, chunk) => chunk)
  for (const chunk of all)
    expect([0, 1].filter((rank) => contract.needs(rank, chunk))).toHaveLength(contract.copies)
  return {
    holds: [0, 1].map((rank) => all.filter((chunk) => contract.holds(rank, chunk))),
    needs: [0, 1].map((rank) => all.filter((chunk) => contract.needs(rank, chunk))),
    sources: all.map((chunk) => contract.source(chunk) ?? 'all'),
  }
}

const both = [
  [0, 1],
  [0, 1],
]
const own = [[0], [1]]
const root = [[], [0, 1]]

test.each([
  ['allreduce', { holds: both, needs: both, sources: ['all', 'all'] }],
  ['barrier', { holds: both, needs: both, sources: ['all', 'all'] }],
  ['reduceScatter', { holds: both, needs: own, sources: ['all', 'all'] }],
  ['reduce', { holds: both, needs: root, sources: ['all', 'all'] }],
  ['allgather', { holds: own, needs: both, sources: [0, 1] }],
  ['gather', { holds: own, needs: root, sources: [0, 1] }],
  ['broadcast', { holds: root, needs: both, sources: [1, 1] }],
  ['scatter', { holds: root, needs: own, sources: [1, 1] }],
] as const)('%s of one chunk per rank', (collective, expected) => {
  expect(table(collective, 2)).toEqual(expected)
})

test('with more chunks than ranks each rank owns a contiguous block', () => {
  expect(table('allgather', 4).holds).toEqual([
    [0, 1],
    [2, 3],
  ])
})

test('alltoall: the chunk from rank i to rank j is i * size + j, times the pieces', () => {
  expect(table('alltoall', 4)).toEqual({
    holds: [
      [0, 1],
      [2, 3],
    ],
    needs: [
      [0, 2],
      [1, 3],
    ],
    sources: [0, 0, 1, 1],
  })
  expect(table('alltoall', 8).needs).toEqual([
    [0, 1, 4, 5],
    [2, 3, 6, 7],
  ])
})
