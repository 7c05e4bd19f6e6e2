/**
 * Error feedback (Seide et al., 1-Bit Stochastic Gradient Descent, 2014): what rounding on the wire took from one call is added to
 * the next. Each rank keeps what it has itself rounded away, of its own input and of the partial results that it passed on. Over a
 * series of calls with one handle the errors do not add up: the sum of all results differs from the exact sum by what the ranks
 * hold at the end.
 */
import { ArgumentError } from '../base/errors.ts'
import type { FloatArray } from './codec.ts'

/** One for each vector that is reduced again and again: `createFeedback()`, then the same handle in every call. */
export interface Feedback {
  /** What is added to the next input. A view; undefined before the first call. */
  readonly error: FloatArray | undefined
  /** Forgets the errors: the next vector may have another length. */
  reset(): void
  /** The input with the errors of the call before, for one call at a time. */
  borrow(input: FloatArray): FloatArray
  /** The call is over; `error` is what this rank has rounded away in it, undefined when it failed. */
  give(error: FloatArray | undefined): void
}

export function createFeedback(): Feedback {
  return new ErrorFeedback()
}

class ErrorFeedback implements Feedback {
  #error: FloatArray | undefined
  #isLent = false

  get error() {
    return this.#error
  }

  reset() {
    this.#error = undefined
  }

  borrow(input: FloatArray): FloatArray {
    if (this.#isLent)
      throw new ArgumentError(
        'feedback',
        'The handle is in use by a call that has not ended. Make one for each vector.',
      )
    const error = this.#error
    if (error && (error.length !== input.length || error.constructor !== input.constructor))
      throw new ArgumentError(
        'feedback',
        `The handle belongs to a vector of ${error.length} elements. Make one for each vector, or reset() it.`,
      )
    this.#isLent = true
    const out = input.slice()
    if (error) for (let i = 0; i < out.length; i++) out[i]! += error[i]!
    return out
  }

  give(error: FloatArray | undefined) {
    this.#isLent = false
    if (error) this.#error = error
  }
}
