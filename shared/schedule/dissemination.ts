/**
 * In step s every rank tells the ranks (k + 1)^s, 2 (k + 1)^s, ... further on all that it knows: ceil(log_{k+1} P)
 * steps for any P with k ports, one buffer, half the combines of the butterfly at r = L. The spans overlap unless
 * the last but one divides P, so that only operators may be used which do not mind a contribution that counts twice.
 */
import { hopSteps, hops, portsParameter, portVariants } from './bruck.ts'
import { createDraft } from './compose.ts'
import { declare } from './declare.ts'
import type { RankSchedule, Settings } from './types.ts'

const common = {
  name: 'dissemination',
  source: 'Hensgen, Finkel, Manber 1988',
  parameters: [portsParameter],
  variants: portVariants,
  steps: (size: number, settings: Settings) => hopSteps(size, Number(settings.ports)),
  chunks: () => 1,
  part(size: number, settings: Settings, rank: number): RankSchedule {
    const ports = Number(settings.ports)
    const draft = createDraft(rank)
    const own = [draft.input(0)]
    for (const { step, distance } of hops(size, ports)) {
      draft.send(step, (rank + distance) % size, own)
      draft.receive(step, (rank - distance + size) % size, own, 'append')
    }
    return draft.finish(hopSteps(size, ports))
  },
}

export const dissemination = declare({
  ...common,
  title: 'Dissemination',
  collective: 'allreduce',
  alike: true,
  restrictions: { commutative: true, idempotent: true, links: 'some' },
  // Each rank folds in another order: the bits agree only because idempotent operators do not round.
  identical: (size) => size <= 2,
})

export const disseminationBarrier = declare({
  ...common,
  title: 'Dissemination barrier',
  collective: 'barrier',
  alike: true,
  restrictions: { commutative: true, idempotent: true, links: 'some' },
  identical: (size) => size <= 2,
})

/** Everyone tells everyone: P - 1 ports. */
export const directBarrier = declare({
  name: 'direct',
  title: 'Everyone tells everyone',
  source: 'dissemination with P - 1 ports',
  collective: 'barrier',
  alike: true,
  restrictions: { commutative: true, idempotent: true, links: 'all' },
  identical: (size) => size <= 2,
  steps: (size) => Math.min(1, size - 1),
  chunks: () => 1,
  part: (size, _settings, rank) => common.part(size, { ports: size - 1 }, rank),
})
