/**
 * AHC, asymmetric hierarchical composition: reduce-scatter inside each group, allreduce between the groups, allgather
 * inside, for groups of any sizes and any algorithms inside and between.
 *
 * A group of g ranks cuts the vector at i / g. The union of all groups' cuts gives segments that have exactly one owner
 * in every group; the owners of a segment allreduce it among them. HCCL, where the idea comes from, cuts into
 * LCM(sizes) * G chunks, which explodes (7 + 9 + 11: 2079); there are never more segments than ranks.
 *
 * With byte-optimal algorithms a rank in a group of g among G groups sends 2 (g - 1) / g vectors inside and
 * 2 (G - 1) / (G g) between groups: 2 (1 - 1 / (G g)) in all. Equal groups give the flat optimum 2 (P - 1) / P.
 */
import { ArgumentError } from '../base/errors.ts'
import { type AhcLayout, ahcParts, boundary, layoutAhc } from './ahcLayout.ts'
import { type Chosen, namesOf } from './choice.ts'
import { createDraft } from './compose.ts'
import { declare, range } from './declare.ts'
import { evenGroups } from './grouping.ts'
import type { Algorithm, Settings } from './types.ts'

/**
 * AHC over the algorithms of a registry, which may hold AHC itself.
 * @param algorithms read when a schedule is made, not before
 */
export function createAhc(algorithms: () => readonly Algorithm[]): Algorithm {
  const parts = () => ahcParts(algorithms())
  /** One layout serves all ranks of a schedule, which are made one after the other. */
  let last: { readonly key: string; readonly layout: AhcLayout } | undefined
  const layout = (size: number, settings: Settings) => {
    const key = JSON.stringify([size, settings])
    if (last?.key !== key) last = { key, layout: layoutAhc(parts(), size, settings) }
    return last.layout
  }
  const innerNames = () => namesOf(parts().reduceScatter)
  const outerNames = () => namesOf(parts().allreduce)

  return declare({
    name: 'ahc',
    title: 'AHC: reduce-scatter in groups, allreduce between them, allgather in groups',
    collective: 'allreduce',
    source: 'AHC of HCCL, with segments instead of LCM chunks',
    parameters: [
      {
        name: 'groups',
        description: 'Sizes of consecutive groups, like 2+3, or their members, like 0,1|2,3,4',
        values: (size) => [evenGroups(size, Math.ceil(Math.sqrt(size)))],
      },
      {
        name: 'inner',
        description:
          'Reduce-scatter and allgather inside the groups; settings may follow, like name:key=value',
        values: innerNames,
      },
      {
        name: 'outer',
        description: 'Allreduce between the groups; settings may follow, like name:key=value',
        values: outerNames,
      },
    ],
    restrictions: { commutative: true, idempotent: false, links: 'some' },
    refuses(size, settings) {
      try {
        layout(size, settings)
        return undefined
      } catch (error) {
        if (error instanceof ArgumentError) return error.message
        throw error
      }
    },
    // Which groups make sense is for the network to say; even ones show what there is.
    variants: (size) =>
      [...new Set([2, Math.ceil(Math.sqrt(size)), Math.ceil(size / 2)])]
        .filter((count) => count > 1 && count < size)
        .map((count) => ({
          groups: evenGroups(size, count),
          inner: innerNames()[0]!,
          outer: outerNames()[0]!,
        })),
    identical(size, settings) {
      const { algorithm, shape } = layout(size, settings).between
      return algorithm.identical(shape.size, shape.settings)
    },
    ordered(size, settings) {
      const { groups, between } = layout(size, settings)
      const isOrdered = ({ algorithm, shape }: Chosen) => algorithm.ordered(shape.size, shape.settings)
      return (
        groups.flatMap(({ members }) => members).every((member, rank) => member === rank) &&
        groups.every(({ reduceScatter }) => isOrdered(reduceScatter)) &&
        isOrdered(between)
      )
    },
    steps: (size, settings) => layout(size, settings).steps,
    chunks(size, settings) {
      const { bounds, between } = layout(size, settings)
      return (bounds.length - 1) * between.shape.chunks
    },
    cuts(size, settings) {
      const { bounds, between } = layout(size, settings)
      const cuts = bounds.slice(0, -1).flatMap((from, segment) => {
        const width = bounds[segment + 1]! - from
        return range(0, between.shape.chunks).map((chunk) => from + boundary(between.shape, chunk) * width)
      })
      return [...cuts, 1]
    },
    part(size, settings, rank) {
      const { groups, between, bounds, betweenAt, gatherAt, steps } = layout(size, settings)
      const split = between.shape.chunks
      const segments = range(0, bounds.length - 1)
      const chunksOf = (segment: number) => range(segment * split, (segment + 1) * split)
      /** In the middle of a segment no rounding can lead across a cut. */
      const middle = (segment: number) => (bounds[segment]! + bounds[segment + 1]!) / 2
      const ownerIn = (group: number, segment: number) => {
        const { members } = groups[group]!
        return members[Math.floor(middle(segment) * members.length)]!
      }
      const home = groups.findIndex(({ members }) => members.includes(rank))
      const { members, reduceScatter, allgather } = groups[home]!

      const draft = createDraft(rank)
      const embedInside = ({ shape, part }: Chosen, at: number) => {
        const isIn = (segment: number, chunk: number) =>
          boundary(shape, chunk) < middle(segment) && middle(segment) < boundary(shape, chunk + 1)
        draft.embed(part(members.indexOf(rank)), {
          at,
          ranks: (member) => members[member]!,
          chunks: (chunk) => segments.filter((segment) => isIn(segment, chunk)).flatMap(chunksOf),
        })
      }
      for (const segment of segments) for (const chunk of chunksOf(segment)) draft.input(chunk)
      embedInside(reduceScatter, 0)
      for (const segment of segments) {
        if (ownerIn(home, segment) !== rank) continue
        draft.embed(between.part(home), {
          at: betweenAt,
          ranks: (group) => ownerIn(group, segment),
          chunks: (chunk) => [segment * split + chunk],
        })
      }
      embedInside(allgather, gatherAt)
      return draft.finish(steps)
    },
  })
}
