/**
 * T_P: abelian groups that act regularly on the ranks. A regular action lets element a be named by the rank t_a(0), so
 * an element is a number 0 .. P-1, 0 is the identity, and t_a moves rank x to add(a, x).
 */
import { createCyclicGroup } from './cyclicGroup.ts'
import { createProductGroup, productNames } from './productGroup.ts'
import { createXorGroup } from './xorGroup.ts'

/** Elements digit * stride, 0 <= digit < length. */
export interface Axis {
  readonly stride: number
  readonly length: number
}

export interface RankGroup {
  readonly name: string
  readonly size: number
  add(a: number, b: number): number
  negate(a: number): number
  /**
   * Elements in mixed radix: every element is the sum of one digit * stride per axis, strides ascend and each is the
   * product of the lengths before it. The reduction empties the axes in this order. The elements without digits up to
   * an axis form a subgroup; modulo it, the digits of that axis add like integers modulo its length. That is all that
   * the butterfly family needs to know of a group.
   */
  readonly axes: readonly Axis[]
  /** The group is the direct product of its axes: digits add without carry from one axis to the next. */
  readonly direct: boolean
}

/** The groups of one kind. A new kind is one file and one line in `kinds`. */
export interface GroupKind {
  /** Names of the groups of this kind that act on `size` ranks. */
  names(size: number): readonly string[]
  /** The group of that name, the reason why there is none, or undefined when the name is not of this kind. */
  create(name: string, size: number): RankGroup | string | undefined
}

const kinds: readonly GroupKind[] = [
  {
    names: () => ['cyclic'],
    create: (name, size) => (name === 'cyclic' ? createCyclicGroup(size) : undefined),
  },
  {
    names: (size) => (size > 1 && Number.isInteger(Math.log2(size)) ? ['xor'] : []),
    create: (name, size) => (name === 'xor' ? createXorGroup(size) : undefined),
  },
  { names: productNames, create: createProductGroup },
]

/** Names of all groups that act on `size` ranks; the cyclic group, which always exists, first. */
export function groupNames(size: number): readonly string[] {
  return kinds.flatMap((kind) => kind.names(size))
}

/** The group of that name on `size` ranks, or the reason why there is none. */
export function createGroup(name: string, size: number): RankGroup | string {
  for (const kind of kinds) {
    const group = kind.create(name, size)
    if (group !== undefined) return group
  }
  return `there is no group "${name}"; ${size} ranks have ${groupNames(size).join(', ')}`
}
