/** Time as the rest of shared/ sees it: seconds from an arbitrary origin, and one kind of timer. */
export interface Clock {
  /** Seconds, monotonic. */
  now(): number
  /** Calls `callback` once after `seconds`, with Infinity never; the returned function cancels it. */
  after(seconds: number, callback: () => void): () => void
}

/** Milliseconds. A timer for more (24.8 days) fires at once. */
const longestTimer = 2 ** 31 - 1

export const realClock: Clock = {
  now: () => performance.now() / 1000,
  after(seconds, callback) {
    if (seconds === Number.POSITIVE_INFINITY) return () => {}
    let timer: ReturnType<typeof setTimeout>
    const wait = (left: number) => {
      timer =
        left > longestTimer
          ? setTimeout(() => wait(left - longestTimer), longestTimer)
          : setTimeout(callback, left)
    }
    wait(seconds * 1000)
    return () => clearTimeout(timer)
  },
}

/** A clock that a test or a simulator moves: timers fire in order of due time, ties in order of creation. */
export class VirtualClock implements Clock {
  #now = 0
  #order = 0
  readonly #timers: { due: number; order: number; callback: () => void }[] = []

  now(): number {
    return this.#now
  }

  after(seconds: number, callback: () => void): () => void {
    if (seconds === Number.POSITIVE_INFINITY) return () => {}
    const timer = { due: this.#now + Math.max(0, seconds), order: this.#order++, callback }
    let at = this.#timers.length
    while (at > 0 && this.#timers[at - 1]!.due > timer.due) at--
    this.#timers.splice(at, 0, timer)
    return () => {
      const index = this.#timers.indexOf(timer)
      if (index >= 0) this.#timers.splice(index, 1)
    }
  }

  /** Fires the next timer; false when there is none. */
  step(): boolean {
    const timer = this.#timers.shift()
    if (!timer) return false
    this.#now = Math.max(this.#now, timer.due)
    timer.callback()
    return true
  }

  /** Time passes and no timer fires, as on a machine that sleeps: those that were due fire late. */
  sleep(seconds: number): void {
    this.#now += seconds
  }

  /** Time of the next timer, or undefined. */
  next(): number | undefined {
    return this.#timers[0]?.due
  }
}
