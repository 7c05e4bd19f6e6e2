/** Whether a peer that the server has put out takes a new seat by itself: when nobody wanted it away, and not for ever. */
import type { RemovalCause } from '../../shared/membership/types.ts'

/** After these the server lets a peer come back. */
const passingCauses: readonly (RemovalCause | undefined)[] = ['lost', 'unreachable']
/** Whom the others lose again and again stays outside, and says why. */
const mostReturns = 3
const withinSeconds = 60

export class Returns {
  #at: number[] = []

  /** Counts the return if it may be; `now` in seconds. */
  take(cause: RemovalCause | undefined, now: number): boolean {
    if (!passingCauses.includes(cause)) return false
    this.#at = [...this.#at.filter((at) => at > now - withinSeconds), now]
    return this.admits(cause)
  }

  /** For who comes along with another one, whose return counts. */
  admits(cause: RemovalCause | undefined): boolean {
    return passingCauses.includes(cause) && this.#at.length <= mostReturns
  }
}
