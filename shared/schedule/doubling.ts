/**
 * Recursive halving and doubling on 2^k ranks, with r steps removed: halve for k - r steps, double for r, then gather
 * for k - r. r = k is recursive doubling, r = 0 the algorithm of Rabenseifner. Masks ascend (1, 2, 4, ...), so that
 * each partial result covers an aligned interval of ranks: rank order is kept and all ranks fold alike at every r.
 *
 * Other sizes take the classic detour: the first 2 (P - 2^k) ranks merge in neighbouring pairs before, and the rank
 * that sat out gets the result afterwards: two more steps and a whole vector each way.
 */
import { createDraft } from './compose.ts'
import { declare, floorLog2, range } from './declare.ts'
import type { Parameter, RankSchedule, Settings } from './types.ts'

/** The part of one of 2^power ranks; 2^(power - removed) chunks, chunk c in slot c. */
function halveAndDouble(power: number, removed: number, rank: number): RankSchedule {
  const halvings = power - removed
  const draft = createDraft(rank)
  /** Chunks that this rank still works on, and those that it gave away at each halving. */
  let own = range(0, 1 << halvings).map(draft.input)
  const given: number[][] = []
  for (let bit = 0; bit < power; bit++) {
    const peer = rank ^ (1 << bit)
    const lower = peer < rank
    if (bit < halvings) {
      const halves = [own.slice(0, own.length / 2), own.slice(own.length / 2)] as const
      own = lower ? halves[1] : halves[0]
      given[bit] = lower ? halves[0] : halves[1]
    }
    draft.send(bit, peer, given[bit] ?? own)
    draft.receive(bit, peer, own, lower ? 'prepend' : 'append')
  }
  for (let bit = halvings - 1; bit >= 0; bit--) {
    const step = power + halvings - 1 - bit
    const peer = rank ^ (1 << bit)
    draft.send(step, peer, own)
    draft.receive(step, peer, given[bit]!, 'store')
    own = peer < rank ? [...given[bit]!, ...own] : [...own, ...given[bit]!]
  }
  return draft.finish(2 * power - removed)
}

/** The part of one of any number of ranks, 2^floor(log2 P) of which run halveAndDouble. */
function partWithFold(size: number, removed: number, rank: number): RankSchedule {
  const power = floorLog2(size)
  const extra = size - (1 << power)
  const paired = rank < 2 * extra
  const steps = stepsWithFold(size, removed)
  const draft = createDraft(rank)
  const all = range(0, 1 << (power - removed)).map(draft.input)
  if (paired && rank % 2 === 1) {
    draft.send(0, rank - 1, all)
    draft.receive(steps - 1, rank - 1, all, 'store')
    return draft.finish(steps)
  }
  if (paired) draft.receive(0, rank + 1, all, 'append')
  draft.embed(halveAndDouble(power, removed, paired ? rank / 2 : rank - extra), {
    at: extra > 0 ? 1 : 0,
    ranks: (virtual) => (virtual < extra ? 2 * virtual : virtual + extra),
  })
  if (paired) draft.send(steps - 1, rank + 1, all)
  return draft.finish(steps)
}

const isPowerOfTwo = (size: number): boolean => size === 1 << floorLog2(size)

const stepsWithFold = (size: number, removed: number): number =>
  2 * floorLog2(size) - removed + (isPowerOfTwo(size) ? 0 : 2)

const common = {
  collective: 'allreduce',
  restrictions: { commutative: false, idempotent: false, links: 'some' },
  baseline: true,
} as const

export const recursiveDoubling = declare({
  ...common,
  name: 'recursive-doubling',
  title: 'Recursive doubling, classic fold',
  source: 'Thakur, Rabenseifner, Gropp 2005',
  steps: (size) => stepsWithFold(size, floorLog2(size)),
  chunks: () => 1,
  part: (size, _settings, rank) => partWithFold(size, floorLog2(size), rank),
})

export const recursiveHalving = declare({
  ...common,
  name: 'recursive-halving',
  title: 'Recursive halving and doubling, classic fold',
  source: 'Rabenseifner 2004',
  steps: (size) => stepsWithFold(size, 0),
  chunks: (size) => 1 << floorLog2(size),
  part: (size, _settings, rank) => partWithFold(size, 0, rank),
})

const removed: Parameter = {
  name: 'r',
  description: 'Steps removed',
  values: (size) => range(0, floorLog2(size) + 1),
}

const removedOf = (settings: Settings): number => Number(settings.r)

export const hybrid = declare({
  ...common,
  name: 'hybrid',
  title: 'Halving, then doubling, classic fold',
  source: 'van de Geijn 1991; Rabenseifner 2004',
  parameters: [removed],
  // The ends of the range have names of their own.
  variants: (size) => range(1, floorLog2(size)).map((r) => ({ r })),
  steps: (size, settings) => stepsWithFold(size, removedOf(settings)),
  chunks: (size, settings) => 1 << (floorLog2(size) - removedOf(settings)),
  part: (size, settings, rank) => partWithFold(size, removedOf(settings), rank),
})
