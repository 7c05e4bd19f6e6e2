/**
 * The butterfly family: what its members have in common, the same for every rank.
 *
 * Vector p of the reduction is the distributed vector t_p q_p of the paper: rank j holds chunk j - p of it. The vectors
 * that are left form a window W of N of them. A stage shrinks it to M: block b of the vectors moves by the element -s_b
 * onto vectors that stay, and is combined there. The distribution runs the stages backwards and copies.
 * With r stages of the distribution removed, the reduction has to end with all vectors of the window R that the
 * distribution starts from, so it runs shifted by every element of R at once: placements R + W instead of W.
 *
 * Vectors that were combined with different partners have different `kinds` (q* and q' of the paper). Two values at one
 * placement are equal exactly when their kinds are, so they need one slot each; a kind is split only where it parts.
 */
import { assert } from '../base/assert.ts'
import { cutFar, cutNear, mergeRuns } from './cuts.ts'
import type { Axis, RankGroup } from './group.ts'

export interface FamilyOptions {
  readonly group: RankGroup
  /** Messages that a rank sends in one step, at most. Default 1. */
  readonly ports?: number
  /** Vectors that one message may carry, at most. Default: no limit. */
  readonly window?: number
  /**
   * far (default): the upper part of the window moves down, by N/2 first (the paper). near: every other vector moves
   * to its neighbour, by 1 first, then 2, 4, ... (Bruck); without window limit.
   */
  readonly order?: 'far' | 'near'
  /** Number under which chunk x is known; a permutation. Default x. */
  readonly relabel?: (chunk: number) => number
  /**
   * The distribution moves the same way as the reduction (equations 15 and 16: the ring), instead of backwards. Placement
   * p then takes the part of placement -p, so it needs R = { 0 }.
   */
  readonly oneWay?: boolean
}

/** Vectors lo .. hi - 1 of a window. */
export interface Span {
  readonly lo: number
  readonly hi: number
}

/** Vectors that are all of one kind. */
export interface Run extends Span {
  readonly kind: number
}

/** All vectors of the smaller window that get one kind, by combining each with one vector of some blocks. */
export interface Merge {
  readonly spans: readonly Span[]
  /** Kind before and after. */
  readonly base: number
  readonly kind: number
  readonly operands: readonly { readonly block: number; readonly kind: number }[]
  /** Some vectors of the base kind stay as they are, so that R may need both kinds at one placement. */
  readonly parts: boolean
}

/** Vectors that travel in one message per rank: those that land on vectors lo .. hi - 1 of the smaller window. */
export interface Block extends Span {
  /** Group element by which they move down in the reduction, up in the distribution. */
  readonly shift: number
}

/** The vectors that are left, digit by digit of one axis; the axes before it are empty, those after it full. */
export interface Window {
  readonly axis: number
  /** Digits between neighbouring vectors. */
  readonly spacing: number
  readonly runs: readonly Run[]
}

export interface Stage {
  readonly before: Window
  readonly after: Window
  readonly blocks: readonly Block[]
  readonly merges: readonly Merge[]
}

export interface Family {
  readonly group: RankGroup
  readonly axes: readonly Axis[]
  /** tails[a]: all elements with digits on the axes after a only. */
  readonly tails: readonly (readonly number[])[]
  readonly stages: readonly Stage[]
  readonly ports: number
  readonly removed: number
  /** R, where the distribution starts: `copies` vectors on `axis`, with everything on the axes after it. */
  readonly axis: number
  readonly copies: number
  readonly relabel: ((chunk: number) => number) | undefined
  readonly oneWay: boolean
}

/** The member of the family with these options and the whole distribution. */
export function planFamily(options: FamilyOptions): Family {
  const { group, ports = 1, window = Number.POSITIVE_INFINITY, order = 'far' } = options
  assert(order === 'far' || window === Number.POSITIVE_INFINITY, 'a window limit is for the far order')
  const axes = joinAxes(group.axes, ports + 1)
  const stages: Stage[] = []
  let kinds = 1
  let kind = 0
  for (const [axis, { stride, length }] of axes.entries()) {
    let before: Window = { axis, spacing: 1, runs: [{ lo: 0, hi: length, kind }] }
    for (let from = length; from > 1; ) {
      const cut = order === 'far' ? cutFar(from, ports, window) : cutNear(from, ports)
      const { merges, runs } = mergeRuns(cut, before.runs, () => kinds++)
      const blocks = cut.blocks.map(({ lo, hi, shift }) => ({
        lo,
        hi,
        shift: shift * before.spacing * stride,
      }))
      const after = { axis, spacing: before.spacing * cut.scale, runs }
      stages.push({ before, after, blocks, merges })
      before = after
      from = cut.to
    }
    kind = before.runs[0]!.kind
  }
  const { relabel, oneWay = false } = options
  const whole = { group, axes, tails: listTails(axes), stages, ports, relabel, oneWay }
  return { ...whole, removed: 0, axis: Math.max(0, axes.length - 1), copies: 1 }
}

/** The same family member with r stages of the distribution left out, 0 <= r <= stages. Not for the near order. */
export function removeStages(family: Family, removed: number): Family {
  const start = family.stages[family.stages.length - removed]?.before
  if (start === undefined) return family
  assert(start.spacing === 1 && !family.oneWay, 'R must be an interval that the distribution can start from')
  return { ...family, removed, axis: start.axis, copies: start.runs.at(-1)!.hi }
}

/**
 * Every rank ends with the same bits. Without removed stages one rank computes each result and the others copy it. With
 * them, two ranks agree for every input only if their operand trees are equal up to x + y = y + x, on each axis of R:
 * halving needs a power of two (a shift of the ranks must map a binary tree onto itself); one stage for the whole axis
 * folds in rank order on every rank; 2 (k + 1) is one such stage, and then a pair.
 */
export function isIdentical({ axes, stages, removed, ports }: Family): boolean {
  const open = new Set(stages.slice(stages.length - removed).map((stage) => stage.before.axis))
  return [...open].every((axis) => {
    const { length } = axes[axis]!
    const isPower = length === 2 ** (31 - Math.clz32(length))
    return length <= ports + 1 || length === 2 * (ports + 1) || (ports === 1 && isPower)
  })
}

/** Operands stand in rank order: every stage folds aligned intervals of ranks (see reduceStep.ts). */
export function isOrdered({ group, axes, ports }: Family): boolean {
  return group.direct && axes.every((axis) => axis.length <= ports + 1)
}

function listTails(axes: readonly Axis[]): number[][] {
  const tails = [[0]]
  for (const { stride, length } of axes.slice(1).reverse()) {
    const shorter = tails[0]!
    tails.unshift(Array.from({ length }, (_, digit) => shorter.map((tail) => digit * stride + tail)).flat())
  }
  return tails
}

/** Axes that k ports can empty in one step together become one: k = P - 1 is the mesh on every group. */
function joinAxes(axes: readonly Axis[], most: number): Axis[] {
  const joined: Axis[] = []
  for (const axis of axes) {
    const last = joined.at(-1)
    if (last !== undefined && last.length * axis.length <= most)
      joined[joined.length - 1] = { stride: last.stride, length: last.length * axis.length }
    else joined.push(axis)
  }
  return joined
}
