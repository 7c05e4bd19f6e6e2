/** Scenarios for real peers: plain data, made from a seed. */
import { createPrng } from '../../shared/base/prng.ts'
import { families } from '../faults/scenario.ts'
import type { Fault, FaultKind, Moment, OpSpec } from './messages.ts'

export interface RealScenario {
  readonly seed: number
  readonly size: number
  readonly ops: readonly OpSpec[]
  readonly faults: readonly Fault[]
}

/** From nothing to what takes a tenth of a second and more. */
const counts = [0, 1, 257, 5000, 100_000, 1_000_000, 2_000_000]
const opCount = 3

/** @param kinds what can happen where the peers live */
export function realScenario(seed: number, kinds: readonly FaultKind[]): RealScenario {
  const prng = createPrng(seed)
  const pick = <T>(list: readonly T[]) => list[prng.below(list.length)]!
  const size = 2 + prng.below(5)
  const faultCount = size > 2 && prng.next() < 0.4 ? 2 : 1
  const victims = new Set<number>()
  const faults = Array.from({ length: faultCount }, (_, at): Fault => {
    let peer = prng.below(size)
    while (victims.has(peer)) peer = (peer + 1) % size
    victims.add(peer)
    const kind = pick(kinds)
    return { kind, peer, moment: momentOf(at > 0 && prng.next() < 0.6), seconds: 0.3 + prng.next() * 7 }
  })
  function momentOf(isInRecovery: boolean): Moment {
    const op = prng.below(opCount - 1)
    const fraction = [0, 0.02 + 0.96 * prng.next(), 0.3 + 0.4 * prng.next(), 1][prng.below(4)]!
    return isInRecovery ? { op, fraction, recoverySeconds: prng.next() * 0.2 } : { op, fraction }
  }
  const spec = (): OpSpec => ({ ...pick(families), count: pick(counts), dtype: pick(['i32', 'f32']) })
  const first = spec()
  // Who comes back in the middle cannot know which op the others are at: then all of them are alike.
  const isAlike = faults.some(({ kind }) => kind === 'return')
  return {
    seed,
    size,
    ops: Array.from({ length: opCount }, (_, op) => (op === 0 || isAlike ? first : spec())),
    faults,
  }
}
