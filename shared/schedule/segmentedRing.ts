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
  alike: true,
  restrictions: { commutative: true, idempotent: false, links: 'some' },
  steps: (size, { segments }) => (size > 1 ? 2 * (size - 1) + Number(segments) - 1 : 0),
  chunks: (size, { segments }) => size * Number(segments),
  part(size, settings, rank) {
    const segments = Number(settings.segments)
    const { slots, steps } = ring.part(size, {}, rank)
    const draft = createDraft(rank)
    const own = range(0, size * segments).map(draft.input)
    for (const at of range(0, segments)) {
      const segmentsOf = (chunks: readonly number[]) =>
        chunks.map((slot) => own[slots[slot]! * segments + at]!)
      for (const [step, { sends, receives }] of steps.entries()) {
        for (const send of sends) draft.send(step + at, send.to, segmentsOf(send.slots))
        for (const { from, slots: received, how } of receives)
          draft.receive(step + at, from, segmentsOf(received), how)
      }
    }
    return draft.finish(size > 1 ? 2 * (size - 1) + segments - 1 : 0)
  },
})
