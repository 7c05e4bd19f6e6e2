/**
 * How many elements a rank passes and gets in each collective, and which bandwidth that is: sizes and factors of nccl-tests (its
 * doc/PERFORMANCE.md). algbw = bytes / time; busbw = algbw x factor is what the hardware of each rank carries when nothing is sent twice.
 */
import type { Collective } from '../schedule/types.ts'

export interface Amounts {
  /** Of the whole vector, or of all parts of all ranks together. */
  readonly bytes: number
  /** As nccl-tests counts: elements of the vector, or of one part. */
  readonly count: number
  /** Elements that a rank passes. */
  readonly sent: number
  /** Elements that a rank gets, if it gets any. */
  readonly received: number
}

/** Rounded down to whole elements; one for each rank at least. */
export function amountsOf(
  collective: Collective,
  bytes: number,
  elementBytes: number,
  size: number,
): Amounts {
  const wanted = Math.floor(bytes / elementBytes)
  const part = Math.max(1, Math.floor(wanted / size))
  const all = part * size
  const parted = { bytes: all * elementBytes, count: part }
  switch (collective) {
    case 'barrier':
      return { bytes: 0, count: 0, sent: 0, received: 0 }
    case 'allreduce':
    case 'reduce':
    case 'broadcast': {
      const count = Math.max(1, wanted)
      return { bytes: count * elementBytes, count, sent: count, received: count }
    }
    case 'allgather':
    case 'gather':
      return { ...parted, sent: part, received: all }
    case 'reduceScatter':
    case 'scatter':
      return { ...parted, sent: all, received: part }
    case 'alltoall':
      return { ...parted, sent: all, received: all }
  }
}

export function busFactor(collective: Collective, size: number): number {
  switch (collective) {
    case 'allreduce':
      return (2 * (size - 1)) / size
    case 'reduceScatter':
    case 'allgather':
    case 'gather':
    case 'scatter':
    case 'alltoall':
      return (size - 1) / size
    case 'reduce':
    case 'broadcast':
      return 1
    case 'barrier':
      return 0
  }
}

export const hasRoot = (collective: Collective): boolean =>
  ['reduce', 'broadcast', 'gather', 'scatter'].includes(collective)

export const hasOperator = (collective: Collective): boolean =>
  ['allreduce', 'reduce', 'reduceScatter'].includes(collective)
