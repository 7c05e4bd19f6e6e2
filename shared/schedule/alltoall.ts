/** Every rank has a block for every other one. Chunk from * P + to is the block of `from` for `to`. */
import { hopSteps, portsParameter, portVariants } from './bruck.ts'
import { createDraft } from './compose.ts'
import { declare, range } from './declare.ts'

const common = { collective: 'alltoall', chunks: (size: number) => size * size } as const

export const directAlltoall = declare({
  ...common,
  name: 'direct',
  title: 'Every block straight to its rank',
  source: 'basic_linear of Open MPI coll/tuned',
  alike: true,
  restrictions: { commutative: false, idempotent: false, links: 'all' },
  steps: (size) => Math.min(1, size - 1),
  part(size, _settings, rank) {
    const draft = createDraft(rank)
    for (const to of range(0, size)) draft.input(rank * size + to)
    const output = range(0, size).map((peer) => {
      if (peer === rank) return draft.held(rank * size + rank)
      const block = draft.slot(peer * size + rank)
      draft.send(0, peer, [draft.held(rank * size + peer)])
      draft.receive(0, peer, [block], 'store')
      return block
    })
    return draft.finish(Math.min(1, size - 1), output)
  },
})

/** Numbers below `size` whose digit of weight `base` is `digit`. */
function withDigit(size: number, base: number, radix: number, digit: number): number[] {
  const numbers: number[] = []
  for (let from = digit * base; from < size; from += base * radix) {
    numbers.push(...range(from, Math.min(size, from + base)))
  }
  return numbers
}

/**
 * Digit by digit: a block travels the distance d to its rank in steps of the non-zero digits of d in base k + 1. About
 * P / 2 log2 P blocks per rank in ceil(log2 P) steps for one port, P - 1 blocks in one step for P - 1 ports.
 */
export const bruckAlltoall = declare({
  ...common,
  name: 'bruck',
  title: 'Bruck: blocks travel by the digits of their distance',
  source: 'Bruck et al. 1997',
  parameters: [portsParameter],
  variants: portVariants,
  alike: true,
  restrictions: { commutative: false, idempotent: false, links: 'some' },
  steps: (size, settings) => hopSteps(size, Number(settings.ports)),
  part(size, settings, rank) {
    const radix = Number(settings.ports) + 1
    const at = (offset: number) => (((rank + offset) % size) + size) % size
    const draft = createDraft(rank)
    /** The slot of the block of distance d that this rank has now; it began on rank - (d mod base). */
    const slots = range(0, size).map((distance) => draft.input(rank * size + at(distance)))
    for (let step = 0, base = 1; base < size; step++, base *= radix) {
      for (let digit = 1; digit < radix && digit * base < size; digit++) {
        const moving = withDigit(size, base, radix, digit)
        draft.send(
          step,
          at(digit * base),
          moving.map((distance) => slots[distance]!),
        )
        const arrived = moving.map((distance) => {
          const from = at(-(distance % (base * radix)))
          return draft.slot(from * size + ((from + distance) % size))
        })
        draft.receive(step, at(-digit * base), arrived, 'store')
        for (const [index, distance] of moving.entries()) slots[distance] = arrived[index]!
      }
    }
    // The block from rank q has travelled the distance rank - q.
    return draft.finish(
      hopSteps(size, Number(settings.ports)),
      range(0, size).map((from) => slots[(rank - from + size) % size]!),
    )
  },
})
