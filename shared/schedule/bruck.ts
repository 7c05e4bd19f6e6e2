/**
 * Allgather of Bruck et al. 1997 with k ports: after a step with base b = (k + 1)^s a rank holds the blocks of the next
 * b (k + 1) ranks, cyclically. ceil(log_{k+1} P) steps, P - 1 blocks per rank, any P. With k = P - 1 it is one step.
 */
import { createDraft, type Draft } from './compose.ts'
import { declare, range } from './declare.ts'
import type { Parameter, Settings } from './types.ts'

/** In step `step`, rank j talks to the ranks `distance` away on either side, about `count` blocks. */
export interface Hop {
  readonly step: number
  readonly distance: number
  readonly count: number
}

export function hops(size: number, ports: number): Hop[] {
  const result: Hop[] = []
  for (let step = 0, base = 1; base < size; step++, base *= ports + 1) {
    for (let distance = base; distance <= ports * base && distance < size; distance += base) {
      result.push({ step, distance, count: Math.min(base, size - distance) })
    }
  }
  return result
}

export const hopSteps = (size: number, ports: number): number => {
  let steps = 0
  for (let reached = 1; reached < size; reached *= ports + 1) steps++
  return steps
}

export const portsParameter: Parameter = {
  name: 'ports',
  description: 'Peers that a rank sends to in one step',
  values: (size) => range(1, Math.max(2, size)),
}

/** One step less for few more links; P - 1 ports are the mesh, which has a name of its own. */
export const portVariants = (size: number): Settings[] =>
  range(1, Math.max(2, Math.min(4, size))).map((ports) => ({ ports }))

/** Writes the hops into a draft that has one slot per block; block d began on rank + d. */
function spread(draft: Draft, size: number, ports: number, rank: number, blocks: readonly number[]): void {
  for (const { step, distance, count } of hops(size, ports)) {
    draft.send(step, (rank - distance + size) % size, blocks.slice(0, count))
    draft.receive(step, (rank + distance) % size, blocks.slice(distance, distance + count), 'store')
  }
}

const common = {
  name: 'bruck',
  parameters: [portsParameter],
  variants: portVariants,
  alike: true,
  restrictions: { commutative: false, idempotent: false, links: 'some' },
  steps: (size: number, settings: Settings) => hopSteps(size, Number(settings.ports)),
} as const

/** Every vector goes to every rank, and each folds them in rank order: the same bits whatever the ports. */
export const bruck = declare({
  ...common,
  title: 'Bruck allgather, then every rank folds in rank order',
  collective: 'allreduce',
  source: 'Bruck et al. 1997; allgather_reduce of Open MPI coll/tuned',
  chunks: () => 1,
  part(size, settings, rank) {
    const draft = createDraft(rank)
    const blocks = [draft.input(0), ...range(1, size).map(() => draft.slot(0))]
    spread(draft, size, Number(settings.ports), rank, blocks)
    const steps = common.steps(size, settings)
    const blockOf = (origin: number) => blocks[(origin - rank + size) % size]!
    for (const origin of range(1, size)) draft.local(steps - 1, blockOf(origin), blockOf(0), 'append')
    return draft.finish(steps, [blockOf(0)])
  },
})

export const bruckAllgather = declare({
  ...common,
  title: 'Bruck allgather',
  collective: 'allgather',
  source: 'Bruck et al. 1997',
  chunks: (size) => size,
  part(size, settings, rank) {
    const draft = createDraft(rank)
    draft.input(rank)
    const blocks = range(0, size).map((distance) => {
      const block = distance === 0 ? draft.held(rank) : draft.slot((rank + distance) % size)
      draft.hold(block)
      return block
    })
    spread(draft, size, Number(settings.ports), rank, blocks)
    return draft.finish(common.steps(size, settings))
  },
})
