import { expect, test } from 'vitest'
import { directAllgather, directReduceScatter } from '../../../shared/schedule/direct.ts'
import { prove } from '../../support/prove.ts'

test('each half of the two-shot mesh is one step of P - 1 chunks, folded as a plain loop folds', () => {
  for (let size = 2; size <= 40; size++) {
    const half = { steps: 1, chunksSentPerRank: size - 1, messages: size - 1, peersPerRank: size - 1 }
    const scatter = prove(directReduceScatter, size)
    expect(scatter).toMatchObject({ ...half, chunkCombinesPerRank: size - 1 })
    expect(scatter.facts).toEqual({ identical: true, ordered: true, rankFold: true, once: true })
    expect(prove(directAllgather, size)).toMatchObject({ ...half, chunkCombinesPerRank: 0 })
  }
  expect(prove(directReduceScatter, 1).steps).toBe(0)
})
