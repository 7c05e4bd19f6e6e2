/** What a fault scenario is: plain data, made from a seed, so that one number replays it. */
import { createPrng } from '../../shared/base/prng.ts'
import type { Settings } from '../../shared/schedule/types.ts'

export const faultKinds = ['close', 'crash', 'freeze', 'cut', 'slow', 'restart'] as const
export type FaultKind = (typeof faultKinds)[number]

export interface Fault {
  readonly kind: FaultKind
  /** Rank that it happens to. `cut` and `slow` need a second one. */
  readonly rank: number
  readonly other: number
  /** It happens when this many messages have been delivered since the ops began. */
  readonly afterMessages: number
  /** A frozen peer goes on, a cut link is mended after so many seconds. */
  readonly seconds: number
}

export interface Scenario {
  readonly seed: number
  readonly size: number
  readonly count: number
  readonly ops: readonly { readonly algorithm: string; readonly settings: Settings }[]
  readonly faults: readonly Fault[]
}

/** One of each family, and what the tuner would take. */
export const families: readonly { algorithm: string; settings: Settings }[] = [
  { algorithm: 'auto', settings: {} },
  { algorithm: 'butterfly', settings: { r: 0 } },
  { algorithm: 'butterfly', settings: { r: 1 } },
  { algorithm: 'ring', settings: {} },
  { algorithm: 'two-shot', settings: {} },
  { algorithm: 'one-shot', settings: {} },
  { algorithm: 'bruck', settings: {} },
  { algorithm: 'binomial', settings: {} },
  { algorithm: 'chain', settings: {} },
  { algorithm: 'double-tree', settings: {} },
  { algorithm: 'star', settings: {} },
  { algorithm: 'recursive-doubling', settings: {} },
]

export function randomScenario(seed: number): Scenario {
  const prng = createPrng(seed)
  const size = 2 + prng.below(8)
  // One algorithm for all ops: who comes back in the middle cannot know which op the others are at.
  const family = families[prng.below(families.length)]!
  const ops = Array.from({ length: 1 + prng.below(3) }, () => family)
  const faults = Array.from({ length: 1 + prng.below(Math.min(3, size - 1)) }, (): Fault => {
    const rank = prng.below(size)
    return {
      kind: faultKinds[prng.below(faultKinds.length)]!,
      rank,
      other: (rank + 1 + prng.below(size - 1)) % size,
      afterMessages: prng.below(40 + 6 * size * ops.length),
      seconds: 0.2 + prng.next() * 8,
    }
  })
  return { seed, size, count: [0, 1, size - 1, size, 257, 5000][prng.below(6)]!, ops, faults }
}

/** Every fault at `phases` points of one op, for each size and family: the full grid. */
export function* gridScenarios(sizes: readonly number[], phases: number): Generator<Scenario> {
  let seed = 1
  for (const kind of faultKinds)
    for (const family of families)
      for (const size of sizes)
        for (let phase = 0; phase < phases; phase++) {
          const rank = (seed * 7) % size
          yield {
            seed: seed++,
            size,
            count: 257,
            ops: [family, family],
            faults: [
              {
                kind,
                rank,
                other: (rank + 1) % size,
                // From the first message to about the last of the op.
                afterMessages: 1 + Math.floor((phase * 4 * size) / phases),
                seconds: 1 + (seed % 5),
              },
            ],
          }
        }
}
