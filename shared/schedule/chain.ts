/**
 * Two pipelined chains that meet at the root: partial results of ever longer intervals of ranks move towards it, piece
 * by piece. With the root at an end it is the textbook's chain, of P - 2 + m steps for m pieces; with the root in the
 * middle the way is half as long, for the same bytes.
 */
import { createDraft } from './compose.ts'
import { declare, range, rootParameter } from './declare.ts'
import { type Place, piecesParameter, pieceVariants, pipelineDown, pipelineUp } from './pipeline.ts'
import type { Parameter, Settings } from './types.ts'

const heightOf = (size: number, settings: Settings): number =>
  Math.max(Number(settings.root), size - 1 - Number(settings.root))

const piecesOf = (settings: Settings): number => Number(settings.pieces)

/** Steps of one direction. */
const oneWay = (size: number, settings: Settings): number =>
  size === 1 ? 0 : heightOf(size, settings) + piecesOf(settings) - 1

function placeOf(size: number, settings: Settings, rank: number): Place {
  const root = Number(settings.root)
  return {
    parent: rank === root ? undefined : rank < root ? rank + 1 : rank - 1,
    lower: rank <= root && rank > 0 ? [rank - 1] : [],
    upper: rank >= root && rank < size - 1 ? [rank + 1] : [],
    depth: Math.abs(rank - root),
  }
}

/** The root is for the caller to name. */
const fromFirst = () => pieceVariants.map((pieces) => ({ root: 0, pieces }))

const common = {
  name: 'chain',
  restrictions: { commutative: false, idempotent: false, links: 'some' },
  chunks: (_size: number, settings: Settings) => piecesOf(settings),
} as const

export const chainReduce = declare({
  ...common,
  title: 'Pipelined chain reduce',
  collective: 'reduce',
  source: 'pipelined reduction; chain of Open MPI coll/tuned',
  parameters: [rootParameter, piecesParameter],
  variants: fromFirst,
  steps: oneWay,
  part(size, settings, rank) {
    const draft = createDraft(rank)
    const slots = range(0, piecesOf(settings)).map(draft.input)
    pipelineUp(draft, placeOf(size, settings, rank), heightOf(size, settings), slots)
    return draft.finish(oneWay(size, settings), rank === Number(settings.root) ? slots : [])
  },
})

export const chainBroadcast = declare({
  ...common,
  title: 'Pipelined chain broadcast',
  collective: 'broadcast',
  source: 'chain of Open MPI coll/tuned',
  parameters: [rootParameter, piecesParameter],
  variants: fromFirst,
  steps: oneWay,
  part(size, settings, rank) {
    const draft = createDraft(rank)
    const isRoot = rank === Number(settings.root)
    const slots = range(0, piecesOf(settings)).map(isRoot ? draft.input : draft.slot)
    pipelineDown(draft, placeOf(size, settings, rank), 0, slots)
    return draft.finish(oneWay(size, settings), slots)
  },
})

const meetingParameter: Parameter = {
  name: 'root',
  description: 'Rank at which the two chains meet',
  values: (size) => [...new Set([size >> 1, ...range(0, size)])],
}

export const chain = declare({
  ...common,
  title: 'Pipelined chain: to the root and back',
  collective: 'allreduce',
  source: 'pipelined reduction, then broadcast',
  parameters: [meetingParameter, piecesParameter],
  variants: (size) => pieceVariants.map((pieces) => ({ root: size >> 1, pieces })),
  steps: (size, settings) => (size === 1 ? 0 : heightOf(size, settings) + oneWay(size, settings)),
  part(size, settings, rank) {
    const draft = createDraft(rank)
    const height = heightOf(size, settings)
    const place = placeOf(size, settings, rank)
    const slots = range(0, piecesOf(settings)).map(draft.input)
    pipelineUp(draft, place, height, slots)
    // The root has its first piece after step height - 1 and sends it on at once.
    pipelineDown(draft, place, height, slots)
    return draft.finish(chain.shape(size, settings).steps)
  },
})
