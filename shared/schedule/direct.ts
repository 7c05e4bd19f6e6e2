/** The two halves of the two-shot mesh as collectives of their own: one step each, where all links exist. */
import { createDraft } from './compose.ts'
import { declare, range } from './declare.ts'

const common = {
  name: 'direct',
  steps: (size: number) => Math.min(1, size - 1),
  chunks: (size: number) => size,
  alike: true,
  restrictions: { commutative: false, idempotent: false, links: 'all' },
} as const

/** Each chunk's owner folds in rank order: ((x0 + x1) + x2) + ... */
export const directReduceScatter = declare({
  ...common,
  title: 'Every chunk straight to its owner, folded in rank order',
  collective: 'reduceScatter',
  source: 'first half of the two-shot mesh; Mesh of HCCL',
  part(size, _settings, rank) {
    const draft = createDraft(rank)
    for (const chunk of range(0, size)) draft.input(chunk)
    const own = draft.held(rank)
    const peers = range(0, size).filter((peer) => peer !== rank)
    for (const peer of peers) draft.send(0, peer, [draft.held(peer)])
    // Receives come before locals, so what belongs behind the own contribution waits in slots of its own.
    const total = rank === 0 ? own : draft.slot(rank)
    const behind: number[] = []
    for (const peer of peers) {
      if (rank === 0 || peer < rank) {
        draft.receive(0, peer, [total], peer === 0 ? 'store' : 'append')
      } else {
        behind.push(draft.slot(rank))
        draft.receive(0, peer, behind.slice(-1), 'store')
      }
    }
    if (rank > 0) for (const slot of [own, ...behind]) draft.local(0, slot, total, 'append')
    return draft.finish(common.steps(size), [total])
  },
})

export const directAllgather = declare({
  ...common,
  title: 'Every block straight to every rank',
  collective: 'allgather',
  source: 'second half of the two-shot mesh; Mesh of HCCL',
  part(size, _settings, rank) {
    const draft = createDraft(rank)
    const own = [draft.input(rank)]
    for (const peer of range(0, size)) {
      if (peer === rank) continue
      const block = draft.slot(peer)
      draft.send(0, peer, own)
      draft.receive(0, peer, [block], 'store')
      draft.hold(block)
    }
    return draft.finish(common.steps(size))
  },
})
