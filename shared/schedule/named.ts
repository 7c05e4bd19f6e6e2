import { createCyclicGroup } from './cyclicGroup.ts'
import { range } from './declare.ts'
import { createMember } from './member.ts'

/** Neighbours first: distances 1, 2, 4, ... in the reduction, ..., 4, 2, 1 in the distribution. */
export const nb = createMember({
  name: 'nb',
  title: 'NB (nonuniform Bruck)',
  source: 'HCCL NB; Bruck and Ho 1993. Steps and bytes of the butterfly with r = 0',
  options: (size) => ({ group: createCyclicGroup(size), order: 'near' }),
})

/**
 * NB with the chunks renumbered, so that what a message carries lies together in the vector: the chunks are split into
 * even and odd ones, and each half again, as long as the halves are equal, and once more. One range per message for
 * P = 2^k; for other P at most two for the largest message (one, counted round the end of the vector).
 */
export const nhr = createMember({
  name: 'nhr',
  title: 'NHR (nonuniform hierarchical ring)',
  source: 'HCCL NHR. Steps and bytes of the butterfly with r = 0',
  options(size) {
    const places = new Array<number>(size)
    for (const [place, chunk] of splitEvenOdd(range(0, size)).entries()) places[chunk] = place
    return { group: createCyclicGroup(size), order: 'near', relabel: (chunk) => places[chunk]! }
  },
})

function splitEvenOdd(chunks: number[]): number[] {
  if (chunks.length < 3) return chunks
  const halves = [0, 1].map((parity) => chunks.filter((_, at) => at % 2 === parity))
  return chunks.length % 2 === 0 ? halves.flatMap(splitEvenOdd) : halves.flat()
}
