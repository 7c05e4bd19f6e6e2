import { describe, expect, it } from 'vitest'
import { choose } from '../../../shared/cost/choose.ts'
import { clusterRanks, groupsText } from '../../../shared/cost/cluster.ts'
import { guessModel } from '../../../shared/cost/fit.ts'
import type { NetworkModel } from '../../../shared/cost/types.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'
import { lineCurve, lineModel } from './networks.ts'

/** Ranks at sites: 0.5 ms and 25 MB/s inside one, 40 ms and 1 MB/s between two. */
const sites = (siteOf: readonly number[]): NetworkModel =>
  lineModel(siteOf.length, {
    hostBeta: 4e-8,
    link: (from, to) => (siteOf[from] === siteOf[to] ? lineCurve(5e-4, 4e-8) : lineCurve(40e-3, 1e-6)),
  })

describe('clusterRanks', () => {
  it('finds the sites, whatever the order of ranks', () => {
    expect(clusterRanks(sites([0, 0, 0, 1, 1]))).toEqual([
      [0, 1, 2],
      [3, 4],
    ])
    expect(clusterRanks(sites([2, 0, 1, 0, 2, 1, 1]))).toEqual([
      [0, 4],
      [1, 3],
      [2, 5, 6],
    ])
  })

  it('parts nothing where no jump does', () => {
    expect(clusterRanks(guessModel(5))).toEqual([[0, 1, 2, 3, 4]])
    const mixed = lineModel(5, { link: (from, to) => lineCurve(1e-3 * (1 + 0.1 * (from + to)), 1e-7) })
    expect(clusterRanks(mixed)).toHaveLength(1)
    expect(clusterRanks(guessModel(1))).toEqual([[0]])
  })

  it('leaves a rank without links alone', () => {
    const model = guessModel(3)
    const links = model.links.map((row, from) =>
      row.map((curve, to) => (from === 2 || to === 2 ? undefined : curve)),
    )
    expect(clusterRanks({ ...model, links })).toEqual([[0, 1], [2]])
  })
})

describe('groupsText', () => {
  it('writes what AHC reads, and nothing for no groups', () => {
    expect(groupsText([[0, 4], [1, 3], [2]])).toBe('0,4|1,3|2')
    expect(groupsText([[0, 1, 2]])).toBeUndefined()
    expect(groupsText([[0], [1]])).toBeUndefined()
  })

  it('is offered to AHC by the choice, and wins where sites are far apart', () => {
    const call = {
      size: 6,
      bytes: 2 ** 22,
      rounds: true,
      commutative: true,
      idempotent: false,
      consistency: 'fast',
    } as const
    const { candidates, chosen } = choose(call, sites([0, 1, 0, 1, 0, 1]), algorithms)
    const found = candidates.filter(({ settings }) => settings.groups === '0,2,4|1,3,5')
    expect(found.length).toBeGreaterThan(0)
    const others = candidates.filter(
      ({ algorithm, settings }) => algorithm === 'ahc' && !found.some((f) => f.settings === settings),
    )
    expect(Math.min(...found.map((f) => f.seconds))).toBeLessThan(Math.min(...others.map((o) => o.seconds)))
    expect(chosen.seconds).toBeLessThanOrEqual(found[0]!.seconds)
  })
})
