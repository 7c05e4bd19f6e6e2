import { expect, test } from 'vitest'
import { bruck, bruckAllgather } from '../../../shared/schedule/bruck.ts'
import { prove } from '../../support/prove.ts'

const steps = (size: number, ports: number) => {
  let count = 0
  for (let reached = 1; reached < size; reached *= ports + 1) count++
  return count
}

test('ceil(log_{k+1} P) steps and P - 1 blocks for every number of ports', () => {
  for (let size = 2; size <= 33; size++) {
    for (let ports = 1; ports < size; ports++) {
      const gather = prove(bruckAllgather, size, { ports })
      expect(gather).toMatchObject({ steps: steps(size, ports), chunksSentPerRank: size - 1, combined: 0 })
      expect(
        Math.max(...gather.schedule.ranks.flatMap((part) => part.steps.map((step) => step.sends.length))),
      ).toBe(Math.min(ports, size - 1))
    }
  }
})

test('every rank folds in rank order: the bits of a plain loop on every rank', () => {
  for (let size = 1; size <= 33; size++) {
    for (const settings of bruck.variants(size)) {
      const { facts, sent, combined } = prove(bruck, size, settings)
      expect(facts).toEqual({ identical: true, ordered: true, rankFold: true, once: true })
      expect({ sent, combined }).toEqual({ sent: size - 1, combined: size - 1 })
    }
  }
})
