import { createDraft } from './compose.ts'
import { createCyclicGroup } from './cyclicGroup.ts'
import { declare, range } from './declare.ts'
import { createMember } from './member.ts'

const everyone = (size: number) => ({ group: createCyclicGroup(size), ports: Math.max(1, size - 1) })

/**
 * k = P - 1, r = 1: everyone sends its whole vector to everyone, and folds what comes in rank order. The chunks of that member of the family
 * always travel together, so here they are one: P times fewer slots and combines to go through for a vector that is tiny. What comes
 * from lower ranks is folded as it comes; the rest waits for this rank's own.
 */
export const oneShot = declare({
  name: 'one-shot',
  title: 'One-shot mesh',
  collective: 'allreduce',
  source:
    'Allgather and local fold (OpenMPI coll/tuned allgather_reduce); k = P - 1, r = 1 of the butterfly family',
  alike: true,
  restrictions: { commutative: false, idempotent: false, links: 'all' },
  steps: (size) => Math.min(1, size - 1),
  chunks: () => 1,
  part(size, _settings, rank) {
    const draft = createDraft(rank)
    const own = draft.input(0)
    const fold = rank === 0 ? own : draft.slot(0)
    for (const distance of range(1, size)) draft.send(0, (rank + distance) % size, [own])
    const later: number[] = []
    for (const from of range(0, size)) {
      if (from === rank) continue
      if (from < rank) draft.receive(0, from, [fold], from === 0 ? 'store' : 'append')
      else if (rank === 0) draft.receive(0, from, [fold], 'append')
      else {
        const slot = draft.slot(0)
        later.push(slot)
        draft.receive(0, from, [slot], 'store')
      }
    }
    if (rank > 0) for (const slot of [own, ...later]) draft.local(0, slot, fold, 'append')
    return draft.finish(Math.min(1, size - 1), [fold])
  },
})

/** k = P - 1, r = 0: rank c gets chunk c of everyone, folds it in rank order and sends the result to everyone. */
export const twoShot = createMember({
  name: 'two-shot',
  title: 'Two-shot mesh',
  source: 'Direct reduce-scatter and allgather (HCCL Mesh); k = P - 1, r = 0 of the butterfly family',
  mesh: true,
  options: everyone,
})
