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

/** Placements at which some vector of the spans stands, for any element of R; in descending order of digits. */
export function placementsOf(family: Family, window: Window, spans: readonly Span[]): number[] {
  if (window.axis > family.axis) return expand(family, family.axis, [{ lo: 0, hi: family.copies }], 1)
  const more = window.axis === family.axis ? family.copies - 1 : 0
  const widened = spans.map(({ lo, hi }) => ({ lo, hi: hi + more }))
  return expand(family, window.axis, widened, window.spacing)
}

/** The elements whose digit on `axis` is in one of the spans (modulo its length), with every tail. */
export function expand(family: Family, axis: number, spans: readonly Span[], spacing: number): number[] {
  if (family.axes.length === 0) return [0]
  const { stride, length } = family.axes[axis]!
  const tails = family.tails[axis]!
  const seen = new Set<number>()
  const elements: number[] = []
  for (const { lo, hi } of spans)
    for (let vector = Math.min(hi, lo + length) - 1; vector >= lo; vector--) {
      const digit = (vector * spacing) % length
      if (spans.length > 1 && seen.has(digit)) continue
      seen.add(digit)
      for (const tail of tails) elements.push(digit * stride + tail)
    }
  return elements
}

/** Whether a value of this kind at placement p is part of the window, for any element of R. */
export function isLive(family: Family, window: Window, kind: number, p: number): boolean {
  const axis = Math.min(window.axis, family.axis)
  const { stride, length } = family.axes[axis]!
  if (p % stride !== 0) return false
  const digit = Math.floor(p / stride) % length
  const more = window.axis === family.axis ? family.copies - 1 : 0
  return window.runs.some((run) => {
    if (run.kind !== kind) return false
    if (window.axis > family.axis) return digit < family.copies
    const distance = (digit - run.lo * window.spacing + length) % length
    return distance % window.spacing === 0 && distance / window.spacing < run.hi - run.lo + more
  })
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

/** Vector i of the smaller window was vector i * scale; that of block b which lands on it was i * scale + shift. */
interface Cut {
  readonly to: number
  readonly scale: number
  readonly blocks: readonly Block[]
}

/**
 * N -> N - moved, in blocks as even as can be, laid end to end above the smaller window and each landing on its upper
 * end: with one port, shift floor(N / 2), and vector 0 idles when N is odd (equations 19 and 23).
 */
function cutFar(from: number, ports: number, window: number): Cut {
  const moved = Math.min(window * ports, from - Math.ceil(from / (ports + 1)))
  const to = from - moved
  const count = Math.min(ports, moved)
  const blocks = Array.from({ length: count }, (_, block) => {
    const end = Math.floor(((block + 1) * moved) / count)
    const length = end - Math.floor((block * moved) / count)
    return { lo: to - length, hi: to, shift: end }
  })
  return { to, scale: 1, blocks }
}

/** Vectors i (k + 1) + 1 .. i (k + 1) + k move onto vector i (k + 1). */
function cutNear(from: number, ports: number): Cut {
  const scale = ports + 1
  const blocks = Array.from({ length: Math.min(ports, from - 1) }, (_, block) => {
    const shift = block + 1
    return { lo: 0, hi: Math.ceil((from - shift) / scale), shift }
  })
  return { to: Math.ceil(from / scale), scale, blocks }
}

/** What becomes of each kind: vectors with the same kind and the same partners stay one kind. */
function mergeRuns(cut: Cut, runs: readonly Run[], newKind: () => number) {
  const breaks = new Set([0, cut.to])
  const mark = (at: number) => {
    if (at > 0 && at < cut.to) breaks.add(at)
  }
  for (const { lo, hi } of cut.blocks) {
    mark(lo)
    mark(hi)
  }
  for (const shift of [0, ...cut.blocks.map((block) => block.shift)])
    for (const run of runs) mark(Math.ceil((run.lo - shift) / cut.scale))
  const kindAt = (vector: number) => runs.find((run) => vector < run.hi)!.kind

  const merges = new Map<string, { spans: Span[] } & Omit<Merge, 'parts'>>()
  const next: Run[] = []
  const ends = [...breaks].sort((a, b) => a - b)
  for (const [index, lo] of ends.slice(0, -1).entries()) {
    const hi = ends[index + 1]!
    const base = kindAt(lo * cut.scale)
    const operands = cut.blocks.flatMap((block, b) =>
      lo >= block.lo && lo < block.hi ? [{ block: b, kind: kindAt(lo * cut.scale + block.shift) }] : [],
    )
    let kind = base
    if (operands.length > 0) {
      const key = [base, ...operands.map((operand) => `${operand.block}:${operand.kind}`)].join()
      const known = merges.get(key)
      kind = known?.kind ?? newKind()
      if (known === undefined) merges.set(key, { spans: [{ lo, hi }], base, kind, operands })
      else if (known.spans.at(-1)!.hi === lo)
        known.spans[known.spans.length - 1] = { lo: known.spans.at(-1)!.lo, hi }
      else known.spans.push({ lo, hi })
    }
    const last = next.at(-1)
    if (last?.kind === kind) next[next.length - 1] = { ...last, hi }
    else next.push({ lo, hi, kind })
  }
  const stays = (kind: number) => next.some((run) => run.kind === kind)
  // Placements in descending order are chunks in ascending order: a message of the cyclic group is one range of them.
  const ordered = [...merges.values()].reverse()
  return { runs: next, merges: ordered.map((merge) => ({ ...merge, parts: stays(merge.base) })) }
}
