/**
 * Steps removed as a function of the size of the vector that never rises.
 *
 * On straight links it cannot rise by itself: the time of r is a line (2L - r) alpha + slope(r) m, slopes do not fall
 * with r, and the lower envelope of lines is met in order of falling slope. A link with windows is not straight:
 * there a short vector may fit one flight at r = 0, a longer one pay a window in each of many steps, and the fastest
 * r go 3, 0, 3 with growing vectors. People who are shown one dial expect it to turn one way, so the ladder is, among
 * all functions that never rise, the one that loses least: the sum over a grid of sizes of the relative loss against
 * the fastest r is minimal (dynamic programming). Where the fastest r does not rise by itself, that is the fastest r.
 */

import type { Compiled } from './compile.ts'
import { pricerOf } from './predict.ts'
import type { NetworkModel } from './types.ts'

/** A value of r and its messages. */
export interface Rung {
  readonly r: number
  readonly traffic: Compiled
}

/** From `bytes` on (and below the next entry's) r steps are removed. */
export type Ladder = readonly { readonly bytes: number; readonly r: number }[]

/** Sizes from 4 B to 1 GiB, doubling; each interval in which r falls is cut finer. */
const grid: readonly number[] = Array.from({ length: 29 }, (_, i) => 4 * 2 ** i)
const fineCuts = 32

export function stepOf(ladder: Ladder, bytes: number): number {
  let r = ladder[0]!.r
  for (const rung of ladder) if (bytes >= rung.bytes) r = rung.r
  return r
}

export function ladderOf(rungs: readonly Rung[], model: NetworkModel): Ladder {
  const falling = [...rungs].sort((a, b) => b.r - a.r)
  const pricers = falling.map((rung) => pricerOf(rung.traffic, model))
  const seconds = (rung: number, bytes: number) => pricers[rung]!(bytes)
  const coarse = descend(grid, 0, falling.length - 1, seconds)
  const ladder: { bytes: number; r: number }[] = [{ bytes: 0, r: falling[coarse[0]!]!.r }]
  for (let i = 1; i < grid.length; i++) {
    const [above, below] = [coarse[i - 1]!, coarse[i]!]
    if (above === below) continue
    const [low, high] = [grid[i - 1]!, grid[i]!]
    const cuts = Array.from({ length: fineCuts + 1 }, (_, cut) => low + ((high - low) * cut) / fineCuts)
    const fine = descend(cuts, above, below, seconds)
    for (let cut = 1; cut < cuts.length; cut++) {
      const [from, to] = [fine[cut - 1]!, fine[cut]!]
      if (from === to) continue
      ladder.push({ bytes: crossing(cuts[cut - 1]!, cuts[cut]!, from, to, seconds), r: falling[to]!.r })
    }
  }
  return ladder
}

/**
 * For each size an index between `begin` and `end`, never falling, with the least sum of relative losses. Of equal
 * sums the one with fewer steps (the smaller index) as long as possible.
 */
function descend(
  sizes: readonly number[],
  begin: number,
  end: number,
  seconds: (rung: number, bytes: number) => number,
): number[] {
  const width = end - begin + 1
  const loss: number[][] = sizes.map((bytes) => {
    const times = Array.from({ length: width }, (_, i) => seconds(begin + i, bytes))
    const best = Math.min(...times)
    return times.map((time) => (best > 0 ? time / best - 1 : 0))
  })
  // least[i]: the smallest sum from this size on, when index i or a later one is taken here.
  const taken: number[][] = []
  let least = new Array<number>(width).fill(0)
  for (let at = sizes.length - 1; at >= 0; at--) {
    const next = least
    const choice = new Array<number>(width)
    const sum = loss[at]!.map((value, i) => value + next[i]!)
    least = new Array<number>(width)
    for (let i = width - 1; i >= 0; i--) {
      const isBetter = i === width - 1 || sum[i]! <= least[i + 1]!
      choice[i] = isBetter ? i : choice[i + 1]!
      least[i] = isBetter ? sum[i]! : least[i + 1]!
    }
    taken[at] = choice
  }
  let index = 0
  return taken.map((choice) => begin + (index = choice[index]!))
}

/** Where `to` becomes the faster of the two, by halving. */
function crossing(
  low: number,
  high: number,
  from: number,
  to: number,
  seconds: (rung: number, bytes: number) => number,
): number {
  for (let i = 0; i < 30; i++) {
    const middle = (low + high) / 2
    if (seconds(to, middle) < seconds(from, middle)) high = middle
    else low = middle
  }
  return high
}
