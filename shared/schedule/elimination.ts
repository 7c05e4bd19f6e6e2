/**
 * Recursive halving with 3-2 elimination (Rabenseifner, Traeff 2004). At each level the ranks of a group meet in
 * neighbouring pairs, exchange halves of the vector and go on in two groups, one for each half. In a group of odd size
 * the first three make two: the second and third exchange halves, then the first gives its upper half to the second
 * and takes the lower half of the third, which sits out until the vectors are gathered. That takes one step more than a
 * pair does; who is late stands first in his new group and is the first of the next three, so the delay never adds up:
 * 2 floor(log2 P) + 2 steps, and at most half a vector more than 2 (1 - 2^-k) is sent. Rank order is kept.
 */
import { createDraft } from './compose.ts'
import { declare, floorLog2, range } from './declare.ts'
import type { RankSchedule } from './types.ts'

/** An exchange of chunk ranges; either may be empty. In the gathering it runs backwards. */
interface Exchange {
  readonly step: number
  readonly peer: number
  readonly gives: readonly number[]
  readonly takes: readonly number[]
}

/** Rank of the `index`-th of the group that is reached by keeping the halves `path`. */
function rankAt(size: number, path: readonly number[], index: number): number {
  return path.reduceRight((place, half, level) => {
    if ((size >> level) % 2 === 0) return 2 * place + half
    return place === 0 ? half : 3 + 2 * (place - 1) + half
  }, index)
}

/** What a rank does in the reduction, in order. */
function exchanges(size: number, rank: number): Exchange[] {
  const result: Exchange[] = []
  const path: number[] = []
  let place = rank
  let firstIsLate = false
  let own = range(0, 1 << floorLog2(size))
  for (let level = 0; size >> level > 1; level++) {
    const lower = own.slice(0, own.length / 2)
    const upper = own.slice(own.length / 2)
    const odd = (size >> level) % 2 === 1
    const meet = (step: number, other: number, gives: readonly number[], takes: readonly number[]) =>
      result.push({ step, peer: rankAt(size, path, other), gives, takes })

    let half: number
    if (odd && place === 0) {
      meet(level + 1, 1, upper, [])
      meet(level + 1, 2, [], lower)
      half = 0
    } else if (odd && place === 1) {
      meet(level, 2, lower, upper)
      meet(level + 1, 0, [], upper)
      half = 1
      place = 0
    } else if (odd && place === 2) {
      meet(level, 1, upper, lower)
      meet(level + 1, 0, lower, [])
      break
    } else {
      // Behind the three of an odd group, pairs begin at place 3.
      const from = odd ? 3 : 0
      const step = firstIsLate && place < 2 ? level + 1 : level
      half = (place - from) % 2
      if (half === 0) meet(step, place + 1, upper, lower)
      else meet(step, place - 1, lower, upper)
      place = ((place - from) >> 1) + (odd ? 1 : 0)
    }
    firstIsLate ||= odd
    path.push(half)
    own = half === 0 ? lower : upper
  }
  return result
}

const reductionSteps = (size: number): number => floorLog2(size) + (size === 1 << floorLog2(size) ? 0 : 1)

export const elimination = declare({
  name: 'elimination',
  title: 'Recursive halving and doubling, 3-2 elimination',
  collective: 'allreduce',
  source: 'Rabenseifner and Traeff 2004',
  restrictions: { commutative: false, idempotent: false, links: 'some' },
  baseline: true,
  steps: (size) => 2 * reductionSteps(size),
  chunks: (size) => 1 << floorLog2(size),
  part(size, _settings, rank): RankSchedule {
    const draft = createDraft(rank)
    for (const chunk of range(0, 1 << floorLog2(size))) draft.input(chunk)
    const last = 2 * reductionSteps(size) - 1
    for (const { step, peer, gives, takes } of exchanges(size, rank)) {
      draft.send(step, peer, gives)
      draft.receive(step, peer, takes, peer < rank ? 'prepend' : 'append')
      draft.send(last - step, peer, takes)
      draft.receive(last - step, peer, gives, 'store')
    }
    return draft.finish(last + 1)
  },
})
