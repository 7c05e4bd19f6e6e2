import { everyRemoval, groupParameter, removedParameter } from './butterfly.ts'
import { range } from './declare.ts'
import { createGroup, groupNames } from './group.ts'
import { createMember } from './member.ts'
import type { Settings } from './types.ts'

/** ceil(log_{k + 1} P), exactly. */
function stagesOf(size: number, ports: number): number {
  let stages = 0
  for (let left = size; left > 1; left = Math.ceil(left / (ports + 1))) stages++
  return stages
}

/** Each k that needs fewer steps than k - 1 does; k = 1 is the butterfly, k = P - 1 the mesh. */
function usefulPorts(size: number): number[] {
  return range(2, size - 1).filter((ports) => stagesOf(size, ports) < stagesOf(size, ports - 1))
}

export const ports = createMember({
  name: 'ports',
  title: 'k-port butterfly',
  source: 'Kolmakov and Zhang 2020 with k messages per step; k ports as in Bruck et al. 1997',
  parameters: [
    {
      name: 'ports',
      description: 'k: messages that a rank sends in one step, at most',
      values(size) {
        const initial = Math.max(1, Math.min(3, size - 1))
        return [initial, ...range(1, Math.max(2, size)).filter((k) => k !== initial)]
      },
    },
    removedParameter,
    groupParameter,
  ],
  options(size, { ports, r, group: name }) {
    const most = Math.max(1, size - 1)
    if (Number(ports) < 1 || Number(ports) > most) return `ports can be 1 .. ${most}, not ${ports}`
    const group = createGroup(String(name), size)
    return typeof group === 'string' ? group : { group, ports: Number(ports), removed: Number(r) }
  },
  variants(size) {
    const chosen = usefulPorts(size).flatMap((k) => {
      // Another group is worth its while only where k ports empty each of its axes in one step.
      const groups = groupNames(size).filter(
        (name) => name === 'cyclic' || axesOf(name, size).every((length) => length <= k + 1),
      )
      return everyRemoval(size, k, groups).map((settings): Settings => ({ ports: k, ...settings }))
    })
    return chosen.length > 0
      ? chosen
      : everyRemoval(size, 1, ['cyclic']).map((settings) => ({ ports: 1, ...settings }))
  },
})

function axesOf(name: string, size: number): number[] {
  const group = createGroup(name, size)
  return typeof group === 'string' ? [] : group.axes.map((axis) => axis.length)
}
