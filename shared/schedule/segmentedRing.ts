import { createDraft } from './compose.ts'
import { declare, range } from './declare.ts'
import { ring } from './ring.ts'

/**
 * Each chunk of the ring is cut into S segments, and the ring of segment s runs s steps late: 2 (P - 1) + S - 1 steps,
 * the bytes of the ring. A rank combines one segment while the next one is on its way.
 */
export const segmentedRing = declare({
  name: 'segmented-ring',
  title: 'Segmented ring',
  collective: 'allreduce',
  source: 'OpenMPI coll/tuned segmented_ring',
  parameters: [
    {
      name: 'segments',
      description: 'S: segments that each chunk is cut into',
      values: () => [2, 4, 8, 16],
    },
  ],
  ordered: (size) => size <= 2,
  restrictions: { commutative: true, idempotent: false, links: 'some' },
  steps: (size, { segments }) => (size > 1 ? 2 * (size - 1) + Number(segments) - 1 : 0),
  chunks: (size, { segments }) => size * Number(segments),
  part(size, settings, rank) {
    const segments = Number(settings.segments)
    const part = ring.part(size, {}, rank)
    const draft = createDraft(rank)
    for (const chunk of range(0, size * segments)) draft.input(chunk)
    for (const at of range(0, segments)) draft.embed(part, { at, chunks: (chunk) => [chunk * segments + at] })
    return draft.finish(size > 1 ? 2 * (size - 1) + segments - 1 : 0)
  },
})
