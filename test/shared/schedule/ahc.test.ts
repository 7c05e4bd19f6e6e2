import { expect, test } from 'vitest'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { algorithms, findAlgorithm } from '../../../shared/schedule/registry.ts'
import { prove } from '../../support/prove.ts'

const ahc = findAlgorithm('ahc')

const groupings = ['2+3', '1+4', '3+2', '5+7', '2+2+2', '1+1+1', '7+9+11', '4+4+4+4', '6', '1+1+1+9', '3+5+8']
const sizesOf = (groups: string) => groups.split('+').map(Number)
const total = (groups: string) => sizesOf(groups).reduce((sum, size) => sum + size, 0)

test('with byte-optimal algorithms a rank in a group of g sends 2 (1 - 1 / (G g)) vectors', () => {
  for (const groups of groupings) {
    for (const [inner, outer] of [
      ['direct', 'ring'],
      ['ring', 'ring'],
      ['direct', 'butterfly'],
      ['butterfly', 'butterfly'],
    ] as const) {
      const { facts, ranks } = prove(ahc, total(groups), { groups, inner, outer })
      expect(facts).toMatchObject({ identical: true, once: true })
      const sizes = sizesOf(groups)
      const expected = sizes.flatMap((g) => Array(g).fill(2 * (1 - 1 / (sizes.length * g))))
      for (const [rank, { vectorSent, vectorReceived }] of ranks.entries()) {
        expect(vectorSent).toBeCloseTo(expected[rank], 9)
        expect(vectorReceived).toBeCloseTo(expected[rank], 9)
      }
    }
  }
})

test('2 + 3: 1.667, 1 + 4: 1.75 vectors on the busiest rank; equal groups reach the flat optimum', () => {
  expect(prove(ahc, 5, { groups: '2+3' }).sent).toBeCloseTo(5 / 3)
  expect(prove(ahc, 5, { groups: '1+4' }).sent).toBeCloseTo(1.75)
  expect(prove(ahc, 12, { groups: '4+4+4' }).sent).toBeCloseTo((2 * 11) / 12)
})

test('segments are the union of the groups’ cuts, never more than ranks', () => {
  expect(buildSchedule(ahc, 5, { groups: '2+3', inner: 'direct', outer: 'chain:pieces=1' })).toMatchObject({
    chunks: 4,
    cuts: [0, 1 / 3, 1 / 2, 2 / 3, 1],
  })
  const three = buildSchedule(ahc, 27, { groups: '7+9+11', inner: 'direct', outer: 'ring' })
  expect(three.chunks).toBe(3 * (7 + 9 + 11 - 2))
  expect(three.cuts).toEqual([...(three.cuts ?? [])].sort((a, b) => a - b))
})

test('2 (ceil(log2 gmax) + ceil(log2 G)) steps with butterflies', () => {
  const log = (size: number) => Math.ceil(Math.log2(size))
  for (const groups of groupings) {
    const sizes = sizesOf(groups)
    const { steps } = prove(ahc, total(groups), { groups, inner: 'butterfly', outer: 'butterfly' })
    expect(steps).toBe(2 * (log(Math.max(...sizes)) + log(sizes.length)))
  }
})

test('members may be given in any order', () => {
  const { facts, ranks } = prove(ahc, 5, { groups: '3,1|0,2,4' })
  expect(facts).toMatchObject({ identical: true, once: true })
  expect(ranks.map((rank) => rank.vectorSent.toFixed(3))).toEqual([
    '1.667',
    '1.500',
    '1.667',
    '1.500',
    '1.667',
  ])
})

test('every allreduce of the registry stands between groups, every reduce-scatter and allgather inside', () => {
  const inner = ahc.parameters.find((parameter) => parameter.name === 'inner')?.values(6) ?? []
  const outer = ahc.parameters.find((parameter) => parameter.name === 'outer')?.values(6) ?? []
  expect(inner).toEqual(expect.arrayContaining(['butterfly', 'ring', 'direct']))
  const allreduces = algorithms.filter(
    (one) => one.collective === 'allreduce' && !one.restrictions.idempotent,
  )
  expect(outer).toHaveLength(allreduces.length - 1)
  for (const groups of ['3+5', '2+2+3+1']) {
    for (const one of inner) prove(ahc, 8, { groups, inner: one })
    for (const one of outer) {
      const { facts, schedule } = prove(ahc, 8, { groups, outer: one })
      expect(facts.identical).toBe(ahc.identical(8, schedule.settings))
    }
  }
})

test('settings of the parts are passed on', () => {
  const { steps, facts, schedule } = prove(ahc, 9, { groups: '5+4', inner: 'direct', outer: 'hybrid:r=1' })
  expect(steps).toBe(3)
  expect(facts.identical).toBe(true)
  expect(schedule.settings).toEqual({ groups: '5+4', inner: 'direct', outer: 'hybrid:r=1' })
})

test('what cannot be done is refused in words', () => {
  const refusal = (settings: Record<string, string>) =>
    ahc.refuses(5, { groups: '2+3', inner: 'direct', outer: 'ring', ...settings })
  expect(refusal({})).toBeUndefined()
  expect(refusal({ groups: '2+4' })).toMatch(/5 ranks exactly once/)
  expect(refusal({ inner: 'star' })).toMatch(/there is no "star"/)
  expect(refusal({ outer: 'ahc' })).toMatch(/there is no "ahc"/)
  expect(refusal({ outer: 'dissemination' })).toMatch(/there is no "dissemination"/)
  expect(refusal({ outer: 'hybrid:r=2' })).toMatch(/r is one of 0, 1, not 2/)
  expect(refusal({ outer: 'hybrid:r' })).toMatch(/key=value/)
  expect(refusal({ outer: 'hybrid:s=1' })).toMatch(/no setting "s"/)
})
