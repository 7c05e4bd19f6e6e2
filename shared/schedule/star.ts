/** What a server in the middle would do: rank 0 receives every vector in rank order, folds, sends the result back. */
import { createDraft } from './compose.ts'
import { declare } from './declare.ts'
import { flatBroadcast, flatReduce } from './flat.ts'

export const star = declare({
  name: 'star',
  title: 'Star: all to rank 0 and back',
  collective: 'allreduce',
  source: 'basic_linear of Open MPI coll/tuned; Star of HCCL',
  restrictions: { commutative: false, idempotent: false, links: 'all' },
  baseline: true,
  steps: (size) => (size > 1 ? 2 : 0),
  chunks: () => 1,
  part(size, _settings, rank) {
    const draft = createDraft(rank)
    draft.input(0)
    draft.embed(flatReduce.part(size, { root: 0 }, rank), { at: 0 })
    draft.embed(flatBroadcast.part(size, { root: 0 }, rank), { at: 1 })
    return draft.finish(size > 1 ? 2 : 0)
  },
})
