import { createCyclicGroup } from './cyclicGroup.ts'
import { createMember } from './member.ts'

const everyone = (size: number) => ({ group: createCyclicGroup(size), ports: Math.max(1, size - 1) })

/** k = P - 1, r = 1: everyone sends its whole vector to everyone, and folds what comes in rank order. */
export const oneShot = createMember({
  name: 'one-shot',
  title: 'One-shot mesh',
  source:
    'Allgather and local fold (OpenMPI coll/tuned allgather_reduce); k = P - 1, r = 1 of the butterfly family',
  mesh: true,
  options: (size) => ({ ...everyone(size), removed: size > 1 ? 1 : 0 }),
})

/** k = P - 1, r = 0: rank c gets chunk c of everyone, folds it in rank order and sends the result to everyone. */
export const twoShot = createMember({
  name: 'two-shot',
  title: 'Two-shot mesh',
  source: 'Direct reduce-scatter and allgather (HCCL Mesh); k = P - 1, r = 0 of the butterfly family',
  mesh: true,
  options: everyone,
})
