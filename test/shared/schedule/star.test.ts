import { expect, test } from 'vitest'
import { star } from '../../../shared/schedule/star.ts'
import { prove } from '../../support/prove.ts'

test('the star is two steps, and rank 0 carries P - 1 vectors each way', () => {
  for (let size = 2; size <= 64; size++) {
    const { facts, steps, sent, received, messages, ranks } = prove(star, size)
    expect(facts).toEqual({ identical: true, ordered: true, rankFold: true, once: true })
    expect({ steps, sent, received, messages }).toEqual({
      steps: 2,
      sent: size - 1,
      received: size - 1,
      messages: size - 1,
    })
    expect(ranks[1]).toMatchObject({ vectorSent: 1, vectorReceived: 1, messages: 1, peers: 1 })
  }
})

test('alone there is nothing to do', () => {
  expect(prove(star, 1).steps).toBe(0)
})
