/** One rank talks to every other one at once: one step, P - 1 messages at the root. The naive way, and the quickest for tiny data. */
import { createDraft } from './compose.ts'
import { declare, range, rootParameter } from './declare.ts'

const flat = {
  name: 'flat',
  source: 'basic_linear of Open MPI coll/tuned',
  parameters: [rootParameter],
  steps: (size: number) => Math.min(1, size - 1),
} as const

const others = (size: number, rank: number): number[] => range(0, size).filter((peer) => peer !== rank)

export const flatReduce = declare({
  ...flat,
  title: 'Flat reduce',
  collective: 'reduce',
  restrictions: { commutative: false, idempotent: false, links: 'all' },
  chunks: () => 1,
  part(size, settings, rank) {
    const root = Number(settings.root)
    const draft = createDraft(rank)
    const own = [draft.input(0)]
    if (rank !== root) {
      draft.send(0, root, own)
      return draft.finish(1, [])
    }
    // Outwards from the root, so that every fold joins neighbours and rank order is kept.
    for (const peer of range(0, root).reverse()) draft.receive(0, peer, own, 'prepend')
    for (const peer of range(root + 1, size)) draft.receive(0, peer, own, 'append')
    return draft.finish(flat.steps(size))
  },
})

export const flatBroadcast = declare({
  ...flat,
  title: 'Flat broadcast',
  collective: 'broadcast',
  restrictions: { commutative: false, idempotent: false, links: 'all' },
  chunks: () => 1,
  part(size, settings, rank) {
    const root = Number(settings.root)
    const draft = createDraft(rank)
    if (rank === root) {
      const own = [draft.input(0)]
      for (const peer of others(size, rank)) draft.send(0, peer, own)
    } else {
      const copy = draft.slot(0)
      draft.receive(0, root, [copy], 'store')
      draft.hold(copy)
    }
    return draft.finish(flat.steps(size))
  },
})

export const flatGather = declare({
  ...flat,
  title: 'Flat gather',
  collective: 'gather',
  restrictions: { commutative: false, idempotent: false, links: 'all' },
  chunks: (size) => size,
  part(size, settings, rank) {
    const root = Number(settings.root)
    const draft = createDraft(rank)
    const own = draft.input(rank)
    if (rank !== root) {
      draft.send(0, root, [own])
      return draft.finish(1, [])
    }
    for (const peer of others(size, rank)) {
      const block = draft.slot(peer)
      draft.receive(0, peer, [block], 'store')
      draft.hold(block)
    }
    return draft.finish(flat.steps(size))
  },
})

export const flatScatter = declare({
  ...flat,
  title: 'Flat scatter',
  collective: 'scatter',
  restrictions: { commutative: false, idempotent: false, links: 'all' },
  chunks: (size) => size,
  part(size, settings, rank) {
    const root = Number(settings.root)
    const draft = createDraft(rank)
    if (rank === root) {
      for (const chunk of range(0, size)) draft.input(chunk)
      for (const peer of others(size, rank)) draft.send(0, peer, [draft.held(peer)])
    } else {
      const block = draft.slot(rank)
      draft.receive(0, root, [block], 'store')
      draft.hold(block)
    }
    return draft.finish(flat.steps(size), [draft.held(rank)])
  },
})
