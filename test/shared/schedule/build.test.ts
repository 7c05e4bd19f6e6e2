import { expect, test } from 'vitest'
import { buildPart, buildSchedule, completeSettings } from '../../../shared/schedule/build.ts'
import { algorithms, findAlgorithm } from '../../../shared/schedule/registry.ts'

const butterfly = findAlgorithm('butterfly', 'allreduce')

test('settings that are not given take their defaults', () => {
  expect(completeSettings(butterfly, 7, { r: 2 })).toEqual({ r: 2, group: 'cyclic' })
  expect(buildSchedule(butterfly, 7).settings).toEqual({ r: 0, group: 'cyclic' })
})

test('a part alone is the same as in the whole', () => {
  for (const algorithm of algorithms) {
    const { ranks, settings } = buildSchedule(algorithm, 6)
    for (const rank of [0, 3, 5])
      expect(buildPart(algorithm, 6, settings, rank), algorithm.name).toEqual(ranks[rank])
  }
})

test.each([
  [0, {}, 'size must be a whole number of ranks, at least 1, not 0'],
  [7.5, {}, 'size must be a whole number of ranks, at least 1, not 7.5'],
  [7, { root: 1 }, 'butterfly has no setting "root"; it has r, group'],
  [7, { r: 4 }, 'butterfly cannot be used with 7 ranks: r can be 0 .. 3, not 4'],
  [7, { r: 1.5 }, 'butterfly cannot be used with 7 ranks: r must be a whole number, not 1.5'],
  [7, { r: -1 }, 'butterfly cannot be used with 7 ranks: r must be a whole number, not -1'],
  [7, { group: '2x3' }, 'butterfly cannot be used with 7 ranks: the product 2x3 has 6 elements, not 7'],
] as const)('%d ranks with %j: %s', (size, settings, message) => {
  expect(() => buildSchedule(butterfly, size, settings)).toThrow(message)
})

test.each([
  ['ports', 7, { ports: 7 }, 'ports can be 1 .. 6, not 7'],
  ['window', 7, { window: 4 }, 'window can be 1 .. 3, not 4'],
  ['window', 7, { window: 0 }, 'window can be 1 .. 3, not 0'],
  ['subgroup', 12, { order: 5 }, 'order can be 1, 2, 3, 4, 6, 12, not 5'],
] as const)('%s on %d ranks with %j: %s', (name, size, settings, reason) => {
  expect(findAlgorithm(name).refuses(size, settings)).toBe(reason)
})

test('a rank that there is not', () => {
  expect(() => buildPart(butterfly, 7, {}, 7)).toThrow('rank must be 0 .. 6, not 7')
})

test('every variant that is offered is accepted, and the defaults too', () => {
  for (const algorithm of algorithms)
    for (const size of [1, 2, 3, 6, 8, 13, 64]) {
      expect(algorithm.refuses(size, completeSettings(algorithm, size)), algorithm.name).toBeUndefined()
      const variants = algorithm.variants(size)
      expect(new Set(variants.map((settings) => JSON.stringify(settings))).size).toBe(variants.length)
      for (const settings of variants)
        expect(
          algorithm.refuses(size, settings),
          `${algorithm.name} ${JSON.stringify(settings)}`,
        ).toBeUndefined()
    }
})

test('names are unique within a collective, and an unknown one is answered with those that there are', () => {
  const names = algorithms.map(({ collective, name }) => `${collective} ${name}`)
  expect(new Set(names).size).toBe(names.length)
  expect(findAlgorithm('ring', 'allgather').collective).toBe('allgather')
  expect(() => findAlgorithm('rign', 'barrier')).toThrow(
    'There is no barrier algorithm "rign". Known: dissemination',
  )
})
