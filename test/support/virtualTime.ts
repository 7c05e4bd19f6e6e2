import type { VirtualClock } from '../../shared/base/clock.ts'

/** Lets all that is ready run: promise reactions of any depth. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Moves the clock from timer to timer until the promise settles. Throws when no timer is left and it has not: then nothing in the world can
 * settle it any more, which is what a hang is.
 */
export async function inVirtualTime<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false
  const watched = promise.finally(() => {
    isSettled = true
  })
  watched.catch(() => {})
  for (;;) {
    await settle()
    if (isSettled) return watched
    if (!clock.step()) throw new Error(`a hang: nothing is left to happen at ${clock.now()} s`)
  }
}
