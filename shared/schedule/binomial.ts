/**
 * Binomial trees over aligned blocks of ranks. At level t the blocks [b 2^t, (b + 1) 2^t) stand, each with one holder:
 * the root in its own block, the first rank in every other. Neighbouring blocks merge, so that every partial result
 * covers an interval of ranks: rank order is kept for any root, in ceil(log2 P) steps.
 */
import { createDraft } from './compose.ts'
import { ceilLog2, declare, range, rootParameter } from './declare.ts'

const holder = (level: number, block: number, root: number): number =>
  root >> level === block ? root : block << level

interface Meeting {
  readonly level: number
  readonly peer: number
  /** Towards the root this rank hands its block to the peer, and is done. */
  readonly gives: boolean
  readonly peerIsLower: boolean
  /** Ranks of the peer's block, and of this rank's: from, to. */
  readonly theirs: readonly [number, number]
  readonly ours: readonly [number, number]
}

/** The merges that a rank takes part in, from the leaves to the root. */
function meetings(size: number, root: number, rank: number): Meeting[] {
  const result: Meeting[] = []
  for (let level = 0; 1 << level < size; level++) {
    const block = rank >> level
    const sibling = block ^ 1
    if (sibling << level >= size) continue
    const gives = holder(level + 1, block >> 1, root) !== rank
    const interval = (of: number): [number, number] => [of << level, Math.min(size, (of + 1) << level)]
    result.push({
      level,
      peer: holder(level, sibling, root),
      gives,
      peerIsLower: sibling < block,
      theirs: interval(sibling),
      ours: interval(block),
    })
    if (gives) break
  }
  return result
}

const common = {
  name: 'binomial',
  parameters: [rootParameter],
  restrictions: { commutative: false, idempotent: false, links: 'some' },
  steps: ceilLog2,
} as const

export const binomialReduce = declare({
  ...common,
  title: 'Binomial tree reduce',
  collective: 'reduce',
  source: 'in-order binomial tree; Thakur, Rabenseifner, Gropp 2005',
  chunks: () => 1,
  part(size, settings, rank) {
    const draft = createDraft(rank)
    const own = [draft.input(0)]
    const root = Number(settings.root)
    for (const { level, peer, gives, peerIsLower } of meetings(size, root, rank)) {
      if (gives) draft.send(level, peer, own)
      else draft.receive(level, peer, own, peerIsLower ? 'prepend' : 'append')
    }
    return draft.finish(ceilLog2(size), rank === root ? own : [])
  },
})

export const binomialBroadcast = declare({
  ...common,
  title: 'Binomial tree broadcast',
  collective: 'broadcast',
  source: 'binomial tree; Thakur, Rabenseifner, Gropp 2005',
  chunks: () => 1,
  part(size, settings, rank) {
    const draft = createDraft(rank)
    const root = Number(settings.root)
    const steps = ceilLog2(size)
    const own = [rank === root ? draft.input(0) : draft.slot(0)]
    for (const { level, peer, gives } of meetings(size, root, rank)) {
      if (gives) draft.receive(steps - 1 - level, peer, own, 'store')
      else draft.send(steps - 1 - level, peer, own)
    }
    return draft.finish(steps, own)
  },
})

export const binomialGather = declare({
  ...common,
  title: 'Binomial tree gather',
  collective: 'gather',
  source: 'binomial tree; Thakur, Rabenseifner, Gropp 2005',
  chunks: (size) => size,
  part(size, settings, rank) {
    const draft = createDraft(rank)
    const root = Number(settings.root)
    draft.input(rank)
    for (const { level, peer, gives, theirs, ours } of meetings(size, root, rank)) {
      if (gives) {
        draft.send(level, peer, range(...ours).map(draft.held))
      } else {
        const blocks = range(...theirs).map(draft.slot)
        draft.receive(level, peer, blocks, 'store')
        for (const block of blocks) draft.hold(block)
      }
    }
    return rank === root ? draft.finish(ceilLog2(size)) : draft.finish(ceilLog2(size), [])
  },
})

export const binomialScatter = declare({
  ...common,
  title: 'Binomial tree scatter',
  collective: 'scatter',
  source: 'binomial tree; Thakur, Rabenseifner, Gropp 2005',
  chunks: (size) => size,
  part(size, settings, rank) {
    const draft = createDraft(rank)
    const root = Number(settings.root)
    const steps = ceilLog2(size)
    if (rank === root) for (const chunk of range(0, size)) draft.input(chunk)
    for (const { level, peer, gives, theirs, ours } of meetings(size, root, rank).reverse()) {
      if (gives) {
        const blocks = range(...ours).map(draft.slot)
        draft.receive(steps - 1 - level, peer, blocks, 'store')
        for (const block of blocks) draft.hold(block)
      } else {
        draft.send(steps - 1 - level, peer, range(...theirs).map(draft.held))
      }
    }
    return draft.finish(steps, [draft.held(rank)])
  },
})

export const binomial = declare({
  name: 'binomial',
  title: 'Binomial tree: reduce to rank 0, broadcast back',
  collective: 'allreduce',
  source: 'nonoverlapping of Open MPI coll/tuned',
  restrictions: common.restrictions,
  steps: (size) => 2 * ceilLog2(size),
  chunks: () => 1,
  part(size, _settings, rank) {
    const draft = createDraft(rank)
    draft.input(0)
    draft.embed(binomialReduce.part(size, { root: 0 }, rank), { at: 0 })
    draft.embed(binomialBroadcast.part(size, { root: 0 }, rank), { at: ceilLog2(size) })
    return draft.finish(2 * ceilLog2(size))
  },
})
