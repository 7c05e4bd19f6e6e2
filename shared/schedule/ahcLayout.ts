/** Who owns what in AHC: what follows from sizes and settings alone, the same on every rank. */
import { type Chosen, chooseAlgorithm, namesOf } from './choice.ts'
import { range } from './declare.ts'
import { parseGroups } from './grouping.ts'
import type { Algorithm, ScheduleShape, Settings } from './types.ts'

export interface AhcGroup {
  readonly members: readonly number[]
  readonly reduceScatter: Chosen
  readonly allgather: Chosen
}

export interface AhcLayout {
  readonly groups: readonly AhcGroup[]
  readonly between: Chosen
  /**
   * Segment s reaches from bounds[s] to bounds[s + 1] of the vector: the union of the cuts inside all groups, so that a
   * segment has one owner in every group. Each is cut further as the allreduce between the groups asks.
   */
  readonly bounds: readonly number[]
  /** Where the allreduce between the groups, and the allgather inside, begin. */
  readonly betweenAt: number
  readonly gatherAt: number
  readonly steps: number
}

/** Algorithms that may stand inside the groups, under names that have both collectives, and between them. */
export interface AhcParts {
  readonly reduceScatter: readonly Algorithm[]
  readonly allgather: readonly Algorithm[]
  readonly allreduce: readonly Algorithm[]
}

export function ahcParts(algorithms: readonly Algorithm[]): AhcParts {
  const of = (collective: Algorithm['collective']) =>
    algorithms.filter((one) => one.collective === collective)
  const both = (name: string) =>
    namesOf(of('reduceScatter')).includes(name) && namesOf(of('allgather')).includes(name)
  return {
    reduceScatter: of('reduceScatter').filter((one) => both(one.name)),
    allgather: of('allgather').filter((one) => both(one.name)),
    allreduce: of('allreduce').filter((one) => one.name !== 'ahc' && !one.restrictions.idempotent),
  }
}

/** Where chunk `chunk` begins, as a fraction of the vector. */
export const boundary = ({ cuts, chunks }: ScheduleShape, chunk: number): number =>
  cuts?.[chunk] ?? chunk / chunks

/** @throws ArgumentError when the settings do not fit the size or the parts. */
export function layoutAhc(parts: AhcParts, size: number, settings: Settings): AhcLayout {
  const inner = String(settings.inner)
  const groups = parseGroups(String(settings.groups), size).map((members) => ({
    members,
    reduceScatter: chooseAlgorithm(parts.reduceScatter, inner, members.length),
    allgather: chooseAlgorithm(parts.allgather, inner, members.length),
  }))
  const between = chooseAlgorithm(parts.allreduce, String(settings.outer), groups.length)

  const bounds = new Set<number>()
  for (const { reduceScatter, allgather } of groups) {
    for (const { shape } of [reduceScatter, allgather]) {
      // i / g is rounded correctly, so equal fractions are equal numbers.
      for (const chunk of range(0, shape.chunks + 1)) bounds.add(boundary(shape, chunk))
    }
  }
  const betweenAt = Math.max(...groups.map((group) => group.reduceScatter.shape.steps))
  const gatherAt = betweenAt + between.shape.steps
  return {
    groups,
    between,
    bounds: [...bounds].sort((a, b) => a - b),
    betweenAt,
    gatherAt,
    steps: gatherAt + Math.max(...groups.map((group) => group.allgather.shape.steps)),
  }
}
