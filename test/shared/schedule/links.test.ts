import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildPart } from '../../../shared/schedule/build.ts'
import { hopsFrom, linksOf, meshSize } from '../../../shared/schedule/links.ts'
import { findAlgorithm } from '../../../shared/schedule/registry.ts'
import type { Settings } from '../../../shared/schedule/types.ts'

const sizes = fc.integer({ min: meshSize + 1, max: 1000 })
const ranks = (size: number) => Array.from({ length: size }, (_, rank) => rank)

it('small groups have all links, large ones at most 4 ceil(log2 P) per rank', () => {
  for (let size = 1; size <= meshSize; size++)
    for (const rank of ranks(size))
      expect(linksOf(size, rank)).toEqual(ranks(size).filter((other) => other !== rank))
  fc.assert(
    fc.property(sizes, (size) => {
      expect(linksOf(size, 0).length).toBeLessThanOrEqual(4 * Math.ceil(Math.log2(size)))
      for (const rank of ranks(size)) expect(linksOf(size, rank)).toHaveLength(linksOf(size, 0).length)
    }),
    { numRuns: 30 },
  )
  expect(linksOf(127, 5)).toHaveLength(14)
})

it('links are ascending, of others, and known at both ends', () => {
  fc.assert(
    fc.property(sizes, (size) => {
      for (const rank of ranks(size)) {
        const links = linksOf(size, rank)
        expect(links).toEqual([...new Set(links)].filter((other) => other !== rank).sort((a, b) => a - b))
        for (const other of links) expect(linksOf(size, other)).toContain(rank)
      }
    }),
    { numRuns: 20 },
  )
})

it('every rank is reached over at most ceil(log2 P) links', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), (size, seed) => {
      const hops = hopsFrom(size, seed % size)
      expect(hops[seed % size]).toBe(0)
      expect(Math.max(...hops)).toBeLessThanOrEqual(Math.ceil(Math.log2(size)))
    }),
    { numRuns: 30 },
  )
})

it.each<[string, (size: number) => Settings[]]>([
  ['butterfly', (size) => ranks(Math.ceil(Math.log2(size)) + 1).map((r) => ({ r, group: 'cyclic' }))],
  ['ring', () => [{}]],
  ['bruck', () => [{ ports: 1 }]],
  ['dissemination', () => [{ ports: 1 }]],
  ['binomial', () => [{}]],
  ['double-tree', () => [{ pieces: 2 }]],
])('%s keeps to the links of every size', (name, variants) => {
  const algorithm = findAlgorithm(name, 'allreduce')
  fc.assert(
    fc.property(fc.integer({ min: meshSize + 1, max: 150 }), fc.nat(), (size, seed) => {
      const rank = seed % size
      const links = linksOf(size, rank)
      for (const settings of variants(size)) {
        const { steps } = buildPart(algorithm, size, settings, rank)
        for (const { sends, receives } of steps) {
          for (const { to } of sends) expect(links).toContain(to)
          for (const { from } of receives) expect(links).toContain(from)
        }
      }
    }),
    { numRuns: 20 },
  )
})
