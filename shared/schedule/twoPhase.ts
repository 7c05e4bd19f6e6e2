/**
 * Rooted collectives for long vectors, in two phases in each of which a rank moves at most one vector, where a tree
 * moves up to log2 P: broadcast = scatter, then allgather (van de Geijn); reduce = reduce-scatter, then gather
 * (Rabenseifner). Over trees with few links, or in two steps where all links exist.
 */
import { binomialGather, binomialScatter } from './binomial.ts'
import { bruckAllgather } from './bruck.ts'
import { butterflyReduceScatter } from './butterfly.ts'
import { createDraft } from './compose.ts'
import { declare, rootParameter } from './declare.ts'
import { directAllgather, directReduceScatter } from './direct.ts'
import { flatGather, flatScatter } from './flat.ts'
import type { Algorithm, Settings } from './types.ts'

/** An algorithm, and its settings besides the root. */
type Phase = readonly [Algorithm, Settings]

/** One phase after the other: what they leave of a declaration. */
function follow(first: Phase, second: Phase) {
  const stepsOf = ([algorithm, own]: Phase, size: number, settings: Settings) =>
    algorithm.shape(size, { ...own, ...settings }).steps
  const partOf = ([algorithm, own]: Phase, size: number, settings: Settings, rank: number) =>
    algorithm.part(size, { ...own, ...settings }, rank)
  const steps = (size: number, settings: Settings) =>
    stepsOf(first, size, settings) + stepsOf(second, size, settings)
  return {
    parameters: [rootParameter],
    chunks: (size: number) => size,
    steps,
    part(size: number, settings: Settings, rank: number) {
      const draft = createDraft(rank)
      const part = partOf(first, size, settings, rank)
      for (const chunk of new Set(part.input.map((slot) => part.slots[slot]!))) draft.input(chunk)
      draft.embed(part, { at: 0 })
      draft.embed(partOf(second, size, settings, rank), { at: stepsOf(first, size, settings) })
      return draft.finish(steps(size, settings))
    },
  }
}

export const scatterAllgather = declare({
  name: 'scatter-allgather',
  title: 'Scatter, then allgather',
  collective: 'broadcast',
  source: 'van de Geijn 1991; scatter_allgather of Open MPI coll/tuned',
  restrictions: { commutative: false, idempotent: false, links: 'some' },
  ...follow([binomialScatter, {}], [bruckAllgather, { ports: 1 }]),
})

export const twoShotBroadcast = declare({
  name: 'two-shot',
  title: 'A part to every rank, and from there to all',
  collective: 'broadcast',
  source: 'van de Geijn 1991 with P - 1 ports',
  restrictions: { commutative: false, idempotent: false, links: 'all' },
  ...follow([flatScatter, {}], [directAllgather, {}]),
})

export const reduceScatterGather = declare({
  name: 'reduce-scatter-gather',
  title: 'Reduce-scatter, then gather',
  collective: 'reduce',
  source: 'Rabenseifner 2004, with the butterfly for any P',
  restrictions: { commutative: true, idempotent: false, links: 'some' },
  ordered: (size) => size <= 2,
  ...follow([butterflyReduceScatter, { group: 'cyclic' }], [binomialGather, {}]),
})

export const twoShotReduce = declare({
  name: 'two-shot',
  title: 'Every chunk to its owner, and from there to the root',
  collective: 'reduce',
  source: 'Rabenseifner 2004 with P - 1 ports',
  restrictions: { commutative: false, idempotent: false, links: 'all' },
  ...follow([directReduceScatter, {}], [flatGather, {}]),
})
