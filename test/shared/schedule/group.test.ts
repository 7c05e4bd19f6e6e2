import { describe, expect, test } from 'vitest'
import { createGroup, groupNames, type RankGroup } from '../../../shared/schedule/group.ts'

function groupOf(name: string, size: number): RankGroup {
  const group = createGroup(name, size)
  if (typeof group === 'string') throw new Error(group)
  return group
}

const sizes = [1, 2, 3, 4, 6, 7, 8, 9, 12, 16, 18, 24, 30]
const groups = sizes.flatMap((size) => groupNames(size).map((name) => groupOf(name, size)))

describe.each(groups.map((group) => [`${group.name} on ${group.size} ranks`, group] as const))(
  '%s',
  (_, group) => {
    const { size, add, negate, axes } = group
    const elements = [...Array(size).keys()]

    test('is an abelian group', () => {
      for (const a of elements) {
        expect(add(0, a)).toBe(a)
        expect(add(a, negate(a))).toBe(0)
        for (const b of elements) {
          expect(add(a, b)).toBe(add(b, a))
          for (const c of elements)
            if (add(add(a, b), c) !== add(a, add(b, c))) expect.fail(`(${a}+${b})+${c}`)
        }
      }
    })

    test('acts regularly: exactly one element moves x to y', () => {
      for (const x of elements) expect(elements.map((a) => add(a, x)).sort((a, b) => a - b)).toEqual(elements)
    })

    test('has axes in mixed radix, cyclic modulo the subgroup of the later ones', () => {
      expect(axes.reduce((product, axis) => product * axis.length, 1)).toBe(size)
      let below = 1
      for (const { stride, length } of axes) {
        expect(stride).toBe(below)
        below *= length
        const later = elements.filter((element) => element % below === 0)
        for (const a of later) for (const b of later) expect(later).toContain(add(a, b))
        for (let a = 0; a < length; a++)
          for (let b = 0; b < length; b++) {
            const difference = add(add(a * stride, b * stride), negate(((a + b) % length) * stride))
            expect(later, `${a} + ${b} on the axis of stride ${stride}`).toContain(difference)
          }
      }
    })
  },
)

test('each size has its groups', () => {
  expect(groupNames(1)).toEqual(['cyclic'])
  expect(groupNames(7)).toEqual(['cyclic'])
  expect(groupNames(8)).toEqual(['cyclic', 'xor', '2x4', '4x2', '2x2x2'])
  expect(groupNames(12)).toEqual(['cyclic', '2x6', '3x4', '4x3', '6x2', '2x2x3'])
})

test('a product that is not offered can be asked for', () => {
  expect(groupOf('3x2x2', 12).axes.map((axis) => axis.length)).toEqual([2, 2, 3])
})

test('a group that there is not is refused with a reason', () => {
  expect(createGroup('xor', 6)).toBe('the XOR group needs 2^k ranks, not 6')
  expect(createGroup('2x4', 6)).toBe('the product 2x4 has 8 elements, not 6')
  expect(createGroup('1x6', 6)).toBe('each factor of the product 1x6 must be at least 2')
  expect(createGroup('dihedral', 6)).toBe('there is no group "dihedral"; 6 ranks have cyclic, 2x3, 3x2')
})
