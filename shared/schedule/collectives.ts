import type { Collective, ScheduleShape } from './types.ts'

export const collectives: readonly Collective[] = [
  'allreduce',
  'reduceScatter',
  'allgather',
  'reduce',
  'broadcast',
  'gather',
  'scatter',
  'alltoall',
  'barrier',
]

/**
 * What each collective starts from and must end with, chunk by chunk. "Owner" of chunk c is rank
 * floor(c * size / chunks): contiguous blocks in rank order, so that an algorithm may cut each rank's part further.
 *
 * | collective    | holds chunk c at the start | must hold chunk c at the end | contributors of the result |
 * | ------------- | -------------------------- | ---------------------------- | -------------------------- |
 * | allreduce     | every rank                 | every rank                   | every rank                 |
 * | reduceScatter | every rank                 | owner(c)                     | every rank                 |
 * | reduce        | every rank                 | root                         | every rank                 |
 * | barrier       | every rank                 | every rank                   | every rank, at least once  |
 * | allgather     | owner(c)                   | every rank                   | owner(c)                   |
 * | gather        | owner(c)                   | root                         | owner(c)                   |
 * | broadcast     | root                       | every rank                   | root                       |
 * | scatter       | root                       | owner(c)                     | root                       |
 * | alltoall      | owner(c)                   | target(c)                    | owner(c)                   |
 *
 * Chunks of alltoall are numbered (from * size + to) * pieces + piece, chunks = size * size * pieces: the owner rule
 * gives `from`, and target(c) is `to`.
 */
export interface Contract {
  /** The rank may hold its own contribution to this chunk at the start. */
  holds(rank: number, chunk: number): boolean
  /** The rank must hold the result of this chunk at the end. */
  needs(rank: number, chunk: number): boolean
  /** How many ranks need each chunk: all, or one. */
  readonly copies: number
  /** The only contributor of this chunk's result; undefined when every rank contributes. */
  source(chunk: number): number | undefined
}

export function contractOf(shape: ScheduleShape): Contract {
  const { size, chunks } = shape
  const root = shape.root ?? 0
  const owner = (chunk: number) => Math.floor((chunk * size) / chunks)
  const everyone = () => true
  const atRoot = (rank: number) => rank === root
  const atOwner = (rank: number, chunk: number) => rank === owner(chunk)
  const all = () => undefined
  switch (shape.collective) {
    case 'allreduce':
    case 'barrier':
      return { holds: everyone, needs: everyone, copies: size, source: all }
    case 'reduceScatter':
      return { holds: everyone, needs: atOwner, copies: 1, source: all }
    case 'reduce':
      return { holds: everyone, needs: atRoot, copies: 1, source: all }
    case 'allgather':
      return { holds: atOwner, needs: everyone, copies: size, source: owner }
    case 'gather':
      return { holds: atOwner, needs: atRoot, copies: 1, source: owner }
    case 'broadcast':
      return { holds: atRoot, needs: everyone, copies: size, source: () => root }
    case 'scatter':
      return { holds: atRoot, needs: atOwner, copies: 1, source: () => root }
    case 'alltoall': {
      const pieces = chunks / (size * size)
      const target = (chunk: number) => Math.floor(chunk / pieces) % size
      return { holds: atOwner, needs: (rank, chunk) => rank === target(chunk), copies: 1, source: owner }
    }
  }
}
