/**
 * Two binary trees over all ranks, each of which reduces and broadcasts one half of the vector, piece by piece. A rank
 * that has children in one tree is a leaf of the other, so that every rank sends about two vectors and no more, at
 * twice the logarithm of steps (Sanders, Speck, Traeff 2009; NCCL 2.4).
 *
 * In both trees the position with lowest bit b has the positions within b of it as its subtree: an interval, so rank
 * order is kept. Positions are rank in the first tree, whose leaves are the odd ranks, and rank + 1 in the second, whose
 * leaves are the even ones (NCCL mirrors or shifts, which keeps neither order nor one rule for every P).
 */
import { createDraft } from './compose.ts'
import { ceilLog2, declare, floorLog2, range } from './declare.ts'
import { type Place, piecesParameter, pieceVariants, pipelineDown, pipelineUp } from './pipeline.ts'
import type { Settings } from './types.ts'

/** Parent of a position in the tree over 1 .. last; 0 for the root. */
function parentOf(position: number, last: number): number {
  const bit = position & -position
  const parent = (position ^ bit) | (bit << 1)
  return parent <= last ? parent : position ^ bit
}

/** A position's place in the tree over 1 .. last, under a root at position 0 if that exists. */
function placeInTree(position: number, last: number, hasZero: boolean): Place {
  let depth = hasZero ? 1 : 0
  for (let at = parentOf(position, last); at !== 0; at = parentOf(at, last)) depth++
  const parent = parentOf(position, last)
  const half = (position & -position) >> 1
  let upper = half
  while (position + upper > last) upper >>= 1
  return {
    parent: parent === 0 && !hasZero ? undefined : parent,
    lower: half > 0 ? [position - half] : [],
    upper: upper > 0 ? [position + upper] : [],
    depth,
  }
}

/** Over positions 0 .. size - 1: rank 0 above the tree of the others. */
function placeInFirst(size: number, rank: number): Place {
  if (rank > 0) return placeInTree(rank, size - 1, true)
  return { parent: undefined, lower: [], upper: size > 1 ? [1 << floorLog2(size - 1)] : [], depth: 0 }
}

/** Over positions 1 .. size. */
function placeInSecond(size: number, rank: number): Place {
  const { parent, lower, upper, depth } = placeInTree(rank + 1, size, false)
  const toRank = (position: number) => position - 1
  return { parent: parent && toRank(parent), lower: lower.map(toRank), upper: upper.map(toRank), depth }
}

const stepsOf = (size: number, settings: Settings): number =>
  size === 1 ? 0 : 2 * ceilLog2(size) + Number(settings.pieces) - 1

export const doubleTree = declare({
  name: 'double-tree',
  title: 'Double binary tree',
  collective: 'allreduce',
  source: 'Sanders, Speck, Traeff 2009; TREE of NCCL',
  parameters: [piecesParameter],
  variants: () => pieceVariants.map((pieces) => ({ pieces })),
  restrictions: { commutative: false, idempotent: false, links: 'some' },
  steps: stepsOf,
  chunks: (_size, settings) => 2 * Number(settings.pieces),
  part(size, settings, rank) {
    const pieces = Number(settings.pieces)
    const draft = createDraft(rank)
    const slots = range(0, 2 * pieces).map(draft.input)
    const trees = [
      { place: placeInFirst(size, rank), height: size > 1 ? 1 + floorLog2(size - 1) : 0 },
      { place: placeInSecond(size, rank), height: floorLog2(size) },
    ]
    for (const [index, { place, height }] of trees.entries()) {
      const half = slots.slice(index * pieces, (index + 1) * pieces)
      pipelineUp(draft, place, height, half)
      pipelineDown(draft, place, height, half)
    }
    return draft.finish(stepsOf(size, settings))
  },
})
