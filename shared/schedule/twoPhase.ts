/**
 * Rooted collectives for long vectors, in two phases in each of which a rank moves at most one vector, where a tree
 * moves up to log2 P: broadcast = scatter, then allgather (van de Geijn); reduce = reduce-scatter, then gather
 * (Rabenseifner). With one port over trees and few links, with P - 1 ports in two steps.
 */
import { binomialGather, binomialScatter } from './binomial.ts'
import { bruckAllgather } from './bruck.ts'
import { butterflyReduceScatter } from './butterfly.ts'
import { createDraft } from './compose.ts'
import { declare, rootParameter } from './declare.ts'
import { directReduceScatter } from './direct.ts'
import { flatGather, flatScatter } from './flat.ts'
import type { Algorithm, Parameter, Settings } from './types.ts'

const ports: Parameter = {
  name: 'ports',
  description: 'Peers that a rank sends to in one step: one, or all',
  values: (size) => [...new Set([1, Math.max(1, size - 1)])],
}

/** An algorithm with the settings that it takes from ours. */
type Phase = readonly [Algorithm, Settings]

type Phases = (size: number, settings: Settings) => readonly [Phase, Phase]

/** One phase after the other: what is left of a declaration. */
function follow(phases: Phases) {
  const stepsOf = (size: number, [algorithm, settings]: Phase) => algorithm.shape(size, settings).steps
  const steps = (size: number, settings: Settings) => {
    const [first, second] = phases(size, settings)
    return stepsOf(size, first) + stepsOf(size, second)
  }
  return {
    parameters: [rootParameter, ports],
    chunks: (size: number) => size,
    steps,
    part(size: number, settings: Settings, rank: number) {
      const [first, second] = phases(size, settings)
      const own = first[0].part(size, first[1], rank)
      const draft = createDraft(rank)
      for (const chunk of new Set(own.input.map((slot) => own.slots[slot]!))) draft.input(chunk)
      draft.embed(own, { at: 0 })
      draft.embed(second[0].part(size, second[1], rank), { at: stepsOf(size, first) })
      return draft.finish(steps(size, settings))
    },
  }
}

const isMesh = (size: number, settings: Settings): boolean => settings.ports === size - 1

export const scatterAllgather = declare({
  name: 'scatter-allgather',
  title: 'Scatter, then allgather',
  collective: 'broadcast',
  source: 'van de Geijn 1991; scatter_allgather of Open MPI coll/tuned',
  restrictions: { commutative: false, idempotent: false, links: 'some' },
  ...follow((size, settings) => [
    [isMesh(size, settings) ? flatScatter : binomialScatter, { root: settings.root! }],
    [bruckAllgather, { ports: settings.ports! }],
  ]),
})

export const reduceScatterGather = declare({
  name: 'reduce-scatter-gather',
  title: 'Reduce-scatter, then gather',
  collective: 'reduce',
  source: 'Rabenseifner 2004; rabenseifner of Open MPI coll/tuned, with the butterfly for any P',
  restrictions: { commutative: true, idempotent: false, links: 'some' },
  ordered: (size, settings) => size === 1 || isMesh(size, settings),
  ...follow((size, settings) => [
    isMesh(size, settings) ? [directReduceScatter, {}] : [butterflyReduceScatter, { group: 'cyclic' }],
    [isMesh(size, settings) ? flatGather : binomialGather, { root: settings.root! }],
  ]),
})
