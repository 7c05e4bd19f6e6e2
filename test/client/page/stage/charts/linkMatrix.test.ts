import { describe, expect, it } from 'vitest'
import {
  cellText,
  levelsOf,
  linksOfModel,
  linkTable,
  linkWords,
  slowestWords,
  usedLinks,
} from '../../../../../client/page/stage/charts/linkMatrix.ts'
import { ranksOf } from '../harness/samples.ts'
import { ring } from '../schedules.ts'

const links = [
  { from: 0, to: 1, rtt: 0.001, bytesPerSecond: 40e6, path: 'direct' as const },
  { from: 1, to: 0, rtt: 0.002, bytesPerSecond: 20e6, path: 'direct' as const },
  { from: 0, to: 2, rtt: 0.1, bytesPerSecond: 1e6, path: 'relayed' as const },
]
const ranks = ranksOf(3)

describe('link matrix', () => {
  it('puts the slowest on the brightest level, whatever is shown', () => {
    expect(links.map(levelsOf(links, 'rtt'))).toEqual([0, 0, 5])
    expect(links.map(levelsOf(links, 'rate'))).toEqual([0, 1, 5])
    expect(links.map(levelsOf(links, 'path'))).toEqual([undefined, undefined, undefined])
  })

  it('does not paint noise: links within a fifth are alike', () => {
    const alike = [0.001, 0.00105, 0.0011].map((rtt, to) => ({ from: 3, to, rtt }))
    expect(new Set(alike.map(levelsOf(alike, 'rtt'))).size).toBe(1)
  })

  it('prints three digits', () => {
    expect([0.00012, 0.0123, 0.25].map((rtt) => cellText({ from: 0, to: 1, rtt }, 'rtt'))).toEqual([
      '0.12',
      '12.3',
      '250',
    ])
    expect(cellText(undefined, 'rtt')).toBe('–')
    expect(cellText(links[2], 'path')).toBe('relayed')
  })

  it('says which links the schedule leaves out', () => {
    const used = usedLinks(ring(3))
    expect(used.size).toBe(6)
    expect(usedLinks(ring(4)).has('0 2')).toBe(false)
    expect(linkWords(links[2]!, ranks, false)).toBe(
      'Ana (rank 0) → Cem (rank 2): RTT 100 ms, 1.00 MB/s, relayed, not used by this schedule',
    )
    expect(linkTable(links, ranks, used).rows[0]).toEqual([0, 1, 0.001, 40e6, 'direct', 'yes'])
  })

  it('names the slowest link', () => {
    expect(slowestWords(links, ranks)).toBe(
      'Slowest link: Ana (rank 0) → Cem (rank 2), 1.00 MB/s. Longest round trip: Ana (rank 0) → Cem (rank 2), 100 ms.',
    )
    expect(slowestWords([], ranks)).toBe('')
  })

  it('reads round trip and rate from the agreed model', () => {
    const curve = { points: [], alpha: 0.0005, beta: 5e-8, residual: 0 }
    const model = {
      version: 1,
      size: 2,
      links: [
        [undefined, curve],
        [{ ...curve, beta: 0 }, undefined],
      ],
      gamma: 0,
      overhead: 0,
      hostBeta: 0,
    }
    expect(linksOfModel(model)).toEqual([
      { from: 0, to: 1, rtt: 0.001, bytesPerSecond: 2e7 },
      { from: 1, to: 0, rtt: 0.001 },
    ])
  })
})
