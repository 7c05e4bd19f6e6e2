import { createCyclicGroup } from './cyclicGroup.ts'
import { createMember } from './member.ts'

const options = (size: number) => ({ group: createCyclicGroup(size), window: 1, oneWay: true })

/** Window 1: in each step every rank passes one chunk on to the same neighbour. */
export const ring = createMember({
  name: 'ring',
  title: 'Ring',
  source:
    'Patarasuk and Yuan 2009, Bandwidth Optimal All-reduce Algorithms; equations 10-16 of Kolmakov and Zhang',
  options,
})

export const ringReduceScatter = createMember({
  name: 'ring',
  title: 'Ring, reduction only',
  source: 'Patarasuk and Yuan 2009',
  collective: 'reduceScatter',
  options,
})

export const ringAllgather = createMember({
  name: 'ring',
  title: 'Ring, distribution only',
  source: 'Patarasuk and Yuan 2009',
  collective: 'allgather',
  options,
})
