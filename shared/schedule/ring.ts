import type { Algorithm, RankSchedule, Step } from './types.ts'

/** Rank j's slot s holds chunk s. In reduction step i it sends chunk j - 1 - i on to rank j + 1. */
function part(size: number, rank: number): RankSchedule {
  const chunks = Array.from({ length: size }, (_, chunk) => chunk)
  const at = (offset: number) => (((rank + offset) % size) + size) % size
  const steps: Step[] = []
  const pass = (sent: number, received: number, how: 'append' | 'store') =>
    steps.push({
      sends: [{ to: at(1), slots: [sent] }],
      receives: [{ from: at(-1), slots: [received], how }],
      locals: [],
    })
  for (let i = 0; i < size - 1; i++) pass(at(-1 - i), at(-2 - i), 'append')
  for (let i = 0; i < size - 1; i++) pass(at(-i), at(-1 - i), 'store')
  return { rank, slots: chunks, input: chunks, steps, output: chunks }
}

export const ring: Algorithm = {
  name: 'ring',
  title: 'Ring',
  collective: 'allreduce',
  source: 'Patarasuk and Yuan 2009; window 1 of the butterfly family',
  parameters: [],
  restrictions: { commutative: true, idempotent: false, links: 'some' },
  baseline: false,
  refuses: () => undefined,
  variants: () => [{}],
  identical: () => true,
  shape: (size) => ({
    collective: 'allreduce',
    algorithm: 'ring',
    settings: {},
    size,
    steps: 2 * (size - 1),
    chunks: size,
  }),
  part: (size, _settings, rank) => part(size, rank),
}
