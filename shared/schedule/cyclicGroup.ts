import type { Axis, RankGroup } from './group.ts'

/**
 * Z_P: t_a moves rank x to x + a mod P (Table 1.a of the paper). With `order` d, which must divide P, the elements are
 * written as coset + (P / d) * member of the subgroup of order d, and the cosets are reduced first.
 */
export function createCyclicGroup(size: number, order = 1): RankGroup {
  const cosets: Axis = { stride: 1, length: size / order }
  const subgroup: Axis = { stride: size / order, length: order }
  return {
    name: 'cyclic',
    size,
    add: (a, b) => (a + b) % size,
    negate: (a) => (size - a) % size,
    axes: [cosets, subgroup].filter((axis) => axis.length > 1),
    direct: order === 1 || order === size,
  }
}
