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
import { assert } from '../base/assert.ts'
import { type Chosen, chooseAlgorithm, namesOf } from './choice.ts'
import { createDraft } from './compose.ts'
import { declare, range } from './declare.ts'
import { evenGroups, parseGroups } from './grouping.ts'
import type { Algorithm, ScheduleShape, Settings } from './types.ts'

/** What all ranks share. */
interface Layout {
  readonly groups: readonly (readonly number[])[]
  /** Inside a group of g ranks. */
  readonly reduce: (g: number) => Chosen
  readonly gather: (g: number) => Chosen
  readonly between: Chosen
  readonly betweenShape: ScheduleShape
  /** Segment s reaches from bounds[s] to bounds[s + 1] of the vector. */
  readonly bounds: readonly number[]
  readonly reduceSteps: number
  readonly gatherSteps: number
}

const boundary = (shape: ScheduleShape, chunk: number): number => shape.cuts?.[chunk] ?? chunk / shape.chunks

const shapeOf = ({ algorithm, settings }: Chosen, size: number): ScheduleShape =>
  algorithm.shape(size, settings)

/**
 * AHC over the algorithms of a registry, which may hold AHC itself.
 * @param algorithms read when a schedule is made, not before
 */
export function createAhc(algorithms: () => readonly Algorithm[]): Algorithm {
  /** Algorithms that may stand between the groups. */
  const between = () =>
    algorithms().filter(
      (one) => one.collective === 'allreduce' && one !== ahc && !one.restrictions.idempotent,
    )
  /** Names that stand for both a reduce-scatter and an allgather. */
  const inside = (collective: 'reduceScatter' | 'allgather') => {
    const other = collective === 'allgather' ? 'reduceScatter' : 'allgather'
    const names = namesOf(algorithms().filter((one) => one.collective === other))
    return algorithms().filter((one) => one.collective === collective && names.includes(one.name))
  }

  function layoutOf(size: number, settings: Settings): Layout | string {
    const groups = parseGroups(String(settings.groups), size)
    if (typeof groups === 'string') return groups
    const sizes = [...new Set(groups.map((group) => group.length))]
    const chosen = { reduce: new Map<number, Chosen>(), gather: new Map<number, Chosen>() }
    for (const g of sizes) {
      for (const [collective, map] of [
        ['reduceScatter', chosen.reduce],
        ['allgather', chosen.gather],
      ] as const) {
        const choice = chooseAlgorithm(inside(collective), String(settings.inner), g)
        if (typeof choice === 'string') return `inner: ${choice}`
        map.set(g, choice)
      }
    }
    const outer = chooseAlgorithm(between(), String(settings.outer), groups.length)
    if (typeof outer === 'string') return `outer: ${outer}`
    const inner = [chosen.reduce, chosen.gather].flatMap((map) =>
      [...map].map(([g, choice]) => shapeOf(choice, g)),
    )
    const stepsOf = (map: Map<number, Chosen>) =>
      Math.max(...[...map].map(([g, choice]) => shapeOf(choice, g).steps))
    return {
      groups,
      reduce: (g) => chosen.reduce.get(g)!,
      gather: (g) => chosen.gather.get(g)!,
      between: outer,
      betweenShape: shapeOf(outer, groups.length),
      // i / g is rounded correctly, so equal fractions are equal numbers.
      bounds: [
        ...new Set(
          inner.flatMap((shape) => range(0, shape.chunks + 1).map((chunk) => boundary(shape, chunk))),
        ),
      ].sort((a, b) => a - b),
      reduceSteps: stepsOf(chosen.reduce),
      gatherSteps: stepsOf(chosen.gather),
    }
  }

  const layout = (size: number, settings: Settings): Layout => {
    const made = layoutOf(size, settings)
    assert(typeof made !== 'string', String(made))
    return made
  }

  const ahc = declare({
    name: 'ahc',
    title: 'AHC: reduce-scatter in groups, allreduce between them, allgather in groups',
    collective: 'allreduce',
    source: 'AHC of HCCL; exact segments instead of LCM chunks',
    parameters: [
      {
        name: 'groups',
        description: 'Sizes of consecutive groups, like 2+3, or their members, like 0,1|2,3,4',
        values: (size) => [evenGroups(size, Math.ceil(Math.sqrt(size)))],
      },
      {
        name: 'inner',
        description: 'Reduce-scatter and allgather inside the groups; settings after a colon, like ring:r=1',
        values: () => namesOf(inside('reduceScatter')),
      },
      {
        name: 'outer',
        description: 'Allreduce between the groups',
        values: () => namesOf(between()),
      },
    ],
    restrictions: { commutative: true, idempotent: false, links: 'some' },
    refuses(size, settings) {
      const made = layoutOf(size, settings)
      return typeof made === 'string' ? made : undefined
    },
    variants: (size) =>
      [...new Set([2, Math.ceil(Math.sqrt(size)), Math.ceil(size / 2)])]
        .filter((count) => count > 1 && count < size)
        .flatMap((count) => {
          const [inner] = namesOf(inside('reduceScatter'))
          const [outer] = namesOf(between())
          return inner && outer ? [{ groups: evenGroups(size, count), inner, outer }] : []
        }),
    identical(size, settings) {
      const { groups, between } = layout(size, settings)
      return between.algorithm.identical(groups.length, between.settings)
    },
    steps(size, settings) {
      const { reduceSteps, betweenShape, gatherSteps } = layout(size, settings)
      return reduceSteps + betweenShape.steps + gatherSteps
    },
    chunks(size, settings) {
      const { bounds, betweenShape } = layout(size, settings)
      return (bounds.length - 1) * betweenShape.chunks
    },
    cuts(size, settings) {
      const { bounds, betweenShape } = layout(size, settings)
      const inside = range(0, betweenShape.chunks).map((chunk) => boundary(betweenShape, chunk))
      const starts = bounds.slice(0, -1).flatMap((from, segment) => {
        const width = bounds[segment + 1]! - from
        return inside.map((fraction) => from + fraction * width)
      })
      return [...starts, 1]
    },
    part(size, settings, rank) {
      const { groups, reduce, gather, between, betweenShape, bounds, reduceSteps, gatherSteps } = layout(
        size,
        settings,
      )
      const { chunks: split, steps: betweenSteps } = betweenShape
      const segments = range(0, bounds.length - 1)
      const chunksOf = (segment: number) => range(segment * split, (segment + 1) * split)
      /** Compared with bounds, a middle is never on one. */
      const middle = (segment: number) => (bounds[segment]! + bounds[segment + 1]!) / 2
      const ownerIn = (group: readonly number[], segment: number) =>
        group[Math.floor(middle(segment) * group.length)]!
      const own = groups.find((group) => group.includes(rank))!

      const draft = createDraft(rank)
      for (const chunk of range(0, segments.length * split)) draft.input(chunk)
      const embedInside = ({ algorithm, settings }: Chosen, at: number) => {
        const shape = algorithm.shape(own.length, settings)
        draft.embed(algorithm.part(own.length, settings, own.indexOf(rank)), {
          at,
          ranks: (member) => own[member]!,
          chunks: (chunk) =>
            segments
              .filter(
                (segment) =>
                  boundary(shape, chunk) < middle(segment) && middle(segment) < boundary(shape, chunk + 1),
              )
              .flatMap(chunksOf),
        })
      }

      embedInside(reduce(own.length), 0)
      const home = groups.indexOf(own)
      const part = between.algorithm.part(groups.length, between.settings, home)
      for (const segment of segments) {
        if (ownerIn(own, segment) !== rank) continue
        draft.embed(part, {
          at: reduceSteps,
          ranks: (group) => ownerIn(groups[group]!, segment),
          chunks: (chunk) => [segment * split + chunk],
        })
      }
      embedInside(gather(own.length), reduceSteps + betweenSteps)
      return draft.finish(reduceSteps + betweenSteps + gatherSteps)
    },
  })
  return ahc
}
