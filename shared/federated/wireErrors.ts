/**
 * Error feedback for a vector whose buckets may lie elsewhere in the next round: the errors are kept for the whole vector, and each bucket borrows
 * its part. They are taken over only when the round is settled, since a round may be done twice.
 */

import type { Wire } from '../wire/codec.ts'
import { createFeedback, type Feedback } from '../wire/feedback.ts'
import { q8Block } from '../wire/quantize.ts'

export interface WireErrors {
  /** The handle of one bucket. */
  part(begin: number, end: number): Feedback
  /** The errors after all buckets have ended. */
  collect(): Float32Array
}

/** `before`: the errors of the last round, or the length of a vector that has none yet. */
export function createErrors(before: Float32Array | number, wire: Wire): WireErrors {
  const errors = typeof before === 'number' ? new Float32Array(before) : before
  const block = wire === 'q8' ? q8Block : 1
  const parts: { begin: number; end: number; feedback: Feedback }[] = []
  return {
    part(begin, end) {
      const feedback = createFeedback()
      // Vectors travel in whole blocks: the last one is filled up with zeros.
      const filled = new Float32Array(block * Math.ceil((end - begin) / block))
      filled.set(errors.subarray(begin, end))
      feedback.give(filled)
      parts.push({ begin, end, feedback })
      return feedback
    },
    collect() {
      const after = new Float32Array(errors.length)
      for (const { begin, end, feedback } of parts)
        after.set((feedback.error ?? new Float32Array(0)).subarray(0, end - begin), begin)
      return after
    },
  }
}
