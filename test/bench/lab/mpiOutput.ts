/** What test/lab/allreduce.c prints. */

export interface MpiCall {
  readonly bytes: number
  /** From the last rank's start to the last rank's end. */
  readonly seconds: number
  /** The longest time that a rank spent in the call. */
  readonly slowest: number
  readonly isWrong: boolean
}

/** @throws Error for anything that is no such line */
export function parseMpiLine(line: string): MpiCall {
  const [bytes, seconds, slowest, right] = line.trim().split(/\s+/).map(Number)
  const isTime = (value: number | undefined): value is number => value !== undefined && value >= 0
  if (!Number.isSafeInteger(bytes) || !isTime(seconds) || !isTime(slowest) || (right !== 0 && right !== 1))
    throw new Error(`MPI says: ${line}`)
  return { bytes: bytes!, seconds, slowest, isWrong: right === 0 }
}
