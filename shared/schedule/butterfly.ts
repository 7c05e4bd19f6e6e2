import { ceilLog2, range } from './declare.ts'
import { type FamilyOptions, planFamily } from './family.ts'
import { createGroup, groupNames } from './group.ts'
import { createMember } from './member.ts'
import type { Parameter, Settings } from './types.ts'

export const removedParameter: Parameter = {
  name: 'r',
  description:
    'Steps removed from the distribution: 0 sends the fewest bytes, the largest takes the fewest steps',
  values: (size) => range(0, ceilLog2(size) + 1),
}

export const groupParameter: Parameter = {
  name: 'group',
  description: 'Group T_P that says who sends to whom: cyclic, xor (size 2^k), or a product such as 2x3',
  values: groupNames,
}

/** Every group with every r. */
export function everyRemoval(size: number, ports: number, groups: readonly string[]): Settings[] {
  return groups.flatMap((name) => {
    const group = createGroup(name, size)
    if (typeof group === 'string') return []
    const stages = planFamily({ group, ports }).stages.length
    return range(0, stages + 1).map((r) => ({ r, group: name }))
  })
}

export const butterfly = createMember({
  name: 'butterfly',
  title: 'Generalized butterfly',
  source: 'Kolmakov and Zhang 2020, A Generalization of the Allreduce Operation, equations 17-44',
  parameters: [removedParameter, groupParameter],
  options(size, settings) {
    const options = groupOptions(size, settings)
    return typeof options === 'string' ? options : { ...options, removed: Number(settings.r) }
  },
  variants: (size) => everyRemoval(size, 1, groupNames(size)),
})

/** The first half: halving by N -> ceil(N / 2); rank c ends with chunk c. */
export const butterflyReduceScatter = createMember({
  name: 'butterfly',
  title: 'Generalized butterfly, reduction only',
  source: 'Kolmakov and Zhang 2020, equations 17-24',
  collective: 'reduceScatter',
  parameters: [groupParameter],
  options: groupOptions,
  variants: everyGroup,
})

/** The second half: the reduction read backwards. */
export const butterflyAllgather = createMember({
  name: 'butterfly',
  title: 'Generalized butterfly, distribution only',
  source: 'Kolmakov and Zhang 2020, equations 17-24 read backwards',
  collective: 'allgather',
  parameters: [groupParameter],
  options: groupOptions,
  variants: everyGroup,
})

function everyGroup(size: number): Settings[] {
  return groupNames(size).map((group) => ({ group }))
}

function groupOptions(size: number, settings: Settings): FamilyOptions | string {
  const group = createGroup(String(settings.group), size)
  return typeof group === 'string' ? group : { group }
}
