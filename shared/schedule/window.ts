import { createCyclicGroup } from './cyclicGroup.ts'
import { range } from './declare.ts'
import { createMember } from './member.ts'

const largest = (size: number) => Math.max(1, size >> 1)

/**
 * Between ring (w = 1) and butterfly (w = P / 2), the open question of the paper: N -> N - min(w, floor(N / 2)). No
 * message carries more than w chunks, and most go to one neighbour at distance w; a + ceil(log2(P - a w)) steps per phase, a = steps with N >= 2 w.
 */
export const window = createMember({
  name: 'window',
  title: 'Window',
  source: 'The future work of Kolmakov and Zhang 2020; own construction',
  parameters: [
    {
      name: 'window',
      description: 'Chunks that one message carries, at most',
      values(size) {
        const middle = Math.min(largest(size), Math.ceil(Math.sqrt(size)))
        return [middle, ...range(1, largest(size) + 1).filter((w) => w !== middle)]
      },
    },
  ],
  options(size, settings) {
    const w = Number(settings.window)
    if (w < 1 || w > largest(size)) return `window can be 1 .. ${largest(size)}, not ${w}`
    return { group: createCyclicGroup(size), window: w, oneWay: true }
  },
  /** 1, 2, 3, 4, 6, 8, 12, ...: steps go down by about a third from one to the next. */
  variants: (size) =>
    range(0, 31)
      .flatMap((bit) => (bit === 0 ? [1] : [2 ** bit, 3 * 2 ** (bit - 1)]))
      .filter((w) => w <= largest(size))
      .map((w) => ({ window: w })),
})
