/**
 * Groups of ranks that are close to each other, found from measured links: for schedules that cross slow links seldom
 * (AHC).
 */
import { latencyOf } from './curve.ts'
import type { NetworkModel } from './types.ts'

/** Links between groups must be so many times slower than the slowest that holds a group together. */
const leastGap = 2

/**
 * Members of each group, in rank order; one group of all when no gap parts them. Ranks are joined along their fastest
 * links first (a minimum spanning tree), and the tree is cut where the time of its links makes its largest jump. Time
 * is the latency of a lone short message, the worse of the two directions: what a step waits for at the least.
 */
export function clusterRanks(model: NetworkModel): readonly (readonly number[])[] {
  const { size, links } = model
  const distance = (a: number, b: number) => {
    const [there, back] = [links[a]?.[b], links[b]?.[a]]
    if (!there && !back) return Number.POSITIVE_INFINITY
    return Math.max(there ? latencyOf(there) : 0, back ? latencyOf(back) : 0)
  }
  // Prim: each rank is joined to the tree by its fastest link.
  const joined: { rank: number; to: number; seconds: number }[] = []
  const nearest = Array.from({ length: size }, (_, rank) => ({ to: 0, seconds: distance(0, rank) }))
  const isIn = Array.from({ length: size }, (_, rank) => rank === 0)
  for (let i = 1; i < size; i++) {
    let next = -1
    for (let rank = 0; rank < size; rank++)
      if (!isIn[rank] && (next < 0 || nearest[rank]!.seconds < nearest[next]!.seconds)) next = rank
    isIn[next] = true
    joined.push({ rank: next, ...nearest[next]! })
    for (let rank = 0; rank < size; rank++) {
      const seconds = distance(next, rank)
      if (!isIn[rank] && seconds < nearest[rank]!.seconds) nearest[rank] = { to: next, seconds }
    }
  }
  const inside = insideOf(joined.map(({ seconds }) => seconds))
  const root = Array.from({ length: size }, (_, rank) => rank)
  const rootOf = (rank: number): number => (root[rank] === rank ? rank : rootOf(root[rank]!))
  for (const { rank, to, seconds } of joined) {
    const [a, b] = [rootOf(rank), rootOf(to)]
    if (seconds <= inside) root[Math.max(a, b)] = Math.min(a, b)
  }
  const groups = new Map<number, number[]>()
  for (let rank = 0; rank < size; rank++) {
    const group = groups.get(rootOf(rank)) ?? []
    groups.set(rootOf(rank), group)
    group.push(rank)
  }
  return [...groups.values()]
}

/**
 * The slowest link that still holds a group together: below the largest jump, or the slowest of all when no jump is
 * large enough.
 */
function insideOf(times: readonly number[]): number {
  const ascending = [...times].sort((a, b) => a - b)
  let inside = Number.POSITIVE_INFINITY
  let largest = leastGap
  for (let i = 1; i < ascending.length; i++) {
    const jump = ascending[i]! / ascending[i - 1]!
    if (jump < largest) continue
    largest = jump
    inside = ascending[i - 1]!
  }
  return inside
}

/** The groups as the `groups` setting of AHC takes them: `0,1|2,3,4`; undefined when there is nothing to part. */
export function groupsText(groups: readonly (readonly number[])[]): string | undefined {
  const members = groups.reduce((sum, group) => sum + group.length, 0)
  if (groups.length < 2 || groups.length === members) return undefined
  return groups.map((group) => group.join(',')).join('|')
}
