/**
 * Pieces of a vector that follow each other up a tree to its root, and down from it. Each rank's subtree is an interval
 * of ranks, lower children's ranks before its own and upper children's behind, so that rank order is kept.
 */
import type { Draft } from './compose.ts'
import { range } from './declare.ts'
import type { Algorithm, Parameter, Settings } from './types.ts'

/** A rank's place in a tree. */
export interface Place {
  readonly parent: number | undefined
  /** Children whose subtrees lie below this rank, nearest first, and above it. */
  readonly lower: readonly number[]
  readonly upper: readonly number[]
  readonly depth: number
}

/**
 * Reduces to the root: a rank at depth d of a tree of height h sends piece i in step h - d + i, so that the root has it
 * after step h - 1 + i.
 */
export function pipelineUp(draft: Draft, place: Place, height: number, slots: readonly number[]): void {
  for (const [piece, slot] of slots.entries()) {
    const step = height - place.depth + piece
    for (const child of place.lower) draft.receive(step - 1, child, [slot], 'prepend')
    for (const child of place.upper) draft.receive(step - 1, child, [slot], 'append')
    if (place.parent !== undefined) draft.send(step, place.parent, [slot])
  }
}

/** Copies from the root, which has piece i at the beginning of step `at` + i, in height - 1 + pieces steps. */
export function pipelineDown(draft: Draft, place: Place, at: number, slots: readonly number[]): void {
  for (const [piece, slot] of slots.entries()) {
    const step = at + place.depth + piece
    if (place.parent !== undefined) draft.receive(step - 1, place.parent, [slot], 'store')
    for (const child of [...place.lower, ...place.upper]) draft.send(step, child, [slot])
  }
}

const [initialPieces, mostPieces] = [8, 64]

export const piecesParameter: Parameter = {
  name: 'pieces',
  description: 'Pieces that follow each other through the pipeline',
  values: () => [initialPieces, ...range(1, mostPieces + 1).filter((pieces) => pieces !== initialPieces)],
}

/** A grid on which no number is far from the best one. */
export const pieceVariants: readonly number[] = [8, 1, 2, 4, 16, 32, 64]

/**
 * Number of pieces m that minimises (alpha + bytes / m * beta) (depth + m), the time of a pipeline in which `depth` more
 * steps than pieces are made: m = sqrt(depth * bytes * beta / alpha), whole and at least 1. A chain that reduces to its
 * end has depth P - 2 and gives the textbook's sqrt(n (p - 2) T_byte / T_start).
 * @param alpha seconds per message
 * @param beta seconds per byte
 */
export function bestPieces(depth: number, bytes: number, alpha: number, beta: number): number {
  const seconds = (pieces: number) => (alpha + (bytes / pieces) * beta) * (depth + pieces)
  const floor = Math.max(1, Math.floor(Math.sqrt((Math.max(0, depth) * bytes * beta) / alpha)))
  return seconds(floor + 1) < seconds(floor) ? floor + 1 : floor
}

/**
 * The best number of pieces that a pipeline allows, on links that are straight lines.
 * @param bytes of the whole vector
 */
export function bestPiecesOf(
  { shape }: Pick<Algorithm, 'shape'>,
  size: number,
  settings: Settings,
  { bytes, alpha, beta }: { readonly bytes: number; readonly alpha: number; readonly beta: number },
): number {
  const whole = shape(size, { ...settings, pieces: 1 })
  return Math.min(mostPieces, bestPieces(whole.steps - 1, bytes / whole.chunks, alpha, beta))
}
