import { expect, test } from 'vitest'
import { bruckAlltoall, directAlltoall } from '../../../shared/schedule/alltoall.ts'
import { prove } from '../../support/prove.ts'

test('direct: one step, P - 1 blocks to P - 1 ranks', () => {
  for (let size = 2; size <= 24; size++) {
    expect(prove(directAlltoall, size)).toMatchObject({
      steps: 1,
      messages: size - 1,
      chunksSentPerRank: size - 1,
      peersPerRank: size - 1,
    })
  }
  expect(prove(directAlltoall, 1).steps).toBe(0)
})

/** A block of distance d travels once for every digit of d that is not 0. */
const hopsOf = (size: number, radix: number) => {
  let hops = 0
  for (let distance = 1; distance < size; distance++) {
    for (let rest = distance; rest > 0; rest = Math.floor(rest / radix)) hops += rest % radix ? 1 : 0
  }
  return hops
}

test('Bruck: ceil(log_{k+1} P) steps, and a block is sent once for each digit of its distance', () => {
  for (let size = 2; size <= 24; size++) {
    for (const ports of [1, 2, 3, size - 1].filter((count) => count < size)) {
      let steps = 0
      for (let reached = 1; reached < size; reached *= ports + 1) steps++
      expect(prove(bruckAlltoall, size, { ports })).toMatchObject({
        steps,
        chunksSentPerRank: hopsOf(size, ports + 1),
      })
    }
  }
  // P / 2 log2 P for a power of two.
  expect(prove(bruckAlltoall, 16)).toMatchObject({ steps: 4, chunksSentPerRank: 32, messages: 4 })
})
