/** What a fault scenario is: plain data, made from a seed, so that one number replays it. */
import { createPrng } from '../../shared/base/prng.ts'
import type { Settings } from '../../shared/schedule/types.ts'

/**
 * close: a tab is closed. crash: a process vanishes without a word. freeze: it stands still for a while. cut: a link breaks for a while. slow: a link takes
 * 100 times as long. restart: a page is loaded again. outage: the server is away for a while and has forgotten everything. offline: a peer has no
 * way to the server for a while, but its links work. sleep: it stands still and has no network. leave: a member says goodbye.
 */
export const faultKinds = [
  'close',
  'crash',
  'freeze',
  'cut',
  'slow',
  'restart',
  'outage',
  'offline',
  'sleep',
  'leave',
] as const
export type FaultKind = (typeof faultKinds)[number]

/** meeting: from the first message on. running: from the first op on. recovering: from the first fault on. */
export type Phase = 'meeting' | 'running' | 'recovering'

export interface Fault {
  readonly kind: FaultKind
  /** Rank that it happens to. `cut` and `slow` need a second one. */
  readonly rank: number
  readonly other: number
  readonly phase: Phase
  /** It happens when this many messages have been delivered in the phase. */
  readonly afterMessages: number
  /** A frozen peer goes on, a cut link is mended, the server is back after so many seconds. */
  readonly seconds: number
}

export interface Family {
  readonly algorithm: string
  readonly settings: Settings
}

export interface Scenario {
  readonly seed: number
  readonly size: number
  readonly count: number
  readonly ops: readonly Family[]
  /** The links are measured when an epoch begins: ten times the messages of an op. */
  readonly measures: boolean
  /** Before each op each peer waits for up to so long. */
  readonly pauseSeconds: number
  readonly faults: readonly Fault[]
}

/** One of each family, and what the tuner would take. */
export const families: readonly Family[] = [
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
  const measures = prng.below(4) === 0
  const faults = Array.from({ length: 1 + prng.below(Math.min(4, size)) }, (_, index): Fault => {
    const rank = prng.below(size)
    const phases: Phase[] = ['running', 'running', 'running', 'running', 'meeting']
    const phase = index > 0 && prng.below(3) === 0 ? 'recovering' : phases[prng.below(phases.length)]!
    return {
      kind: faultKinds[prng.below(faultKinds.length)]!,
      rank,
      other: (rank + 1 + prng.below(size - 1)) % size,
      phase,
      afterMessages: 1 + prng.below((measures ? 40 : 0) + 6 * size * ops.length),
      seconds: 0.2 + prng.next() * 8,
    }
  })
  const pauseSeconds = [0, 0, 0.01, 1][prng.below(4)]!
  const count = [0, 1, size - 1, size, 257, 5000][prng.below(6)]!
  return { seed, size, count, ops, measures, pauseSeconds, faults }
}

/** A point of the first op: its first message, its last, or between them; or while the group meets, or while it recovers from a closed tab. */
export const moments = [0, 0.25, 0.5, 0.75, 1, 'meeting', 'recovering'] as const

/** Every fault at every moment, for each size and family. `messages`: how many a whole op of so many ranks has, without a fault. */
export async function* gridScenarios(
  sizes: readonly number[],
  messages: (family: Family, size: number) => Promise<number>,
  kinds: readonly FaultKind[] = faultKinds,
): AsyncGenerator<Scenario> {
  let seed = 1
  for (const kind of kinds)
    for (const family of families)
      for (const size of sizes)
        for (const moment of moments) {
          const rank = (seed * 7) % size
          const other = (rank + 1) % size
          const strike: Fault = {
            kind,
            rank,
            other,
            phase: 'running',
            afterMessages: 1,
            seconds: 1 + (seed % 9),
          }
          const total = await messages(family, size)
          const at = (part: number) => 1 + Math.round(part * (total - 1))
          const faults: Record<'meeting' | 'recovering', Fault[]> = {
            meeting: [{ ...strike, phase: 'meeting', afterMessages: 1 + (seed % (4 * size)) }],
            recovering: [
              { ...strike, kind: 'close', rank: other, other: rank, afterMessages: at(0.5) },
              { ...strike, phase: 'recovering', afterMessages: 1 + (seed % (4 * size)) },
            ],
          }
          yield {
            seed: seed++,
            size,
            count: 257,
            ops: [family, family],
            measures: family.algorithm === 'auto',
            pauseSeconds: 0,
            faults: typeof moment === 'number' ? [{ ...strike, afterMessages: at(moment) }] : faults[moment],
          }
        }
}
