/**
 * What links are sending. After a pause a link starts with a small window, so the curve of a lone message holds for
 * all that is sent without a pause, taken together: a second message goes on where the window has grown to.
 */
import { curveTime, latencyOf, tailBeta } from './curve.ts'
import type { LinkCurve } from './types.ts'

export interface Streams {
  /** When `bytes` bytes sent at `at` are in, by what the link alone allows. */
  send(link: number, at: number, bytes: number): number
  /** The bytes sent last left only then: queues of the host held them. */
  held(link: number, until: number): void
  reset(): void
}

export function createStreams(curves: readonly LinkCurve[]): Streams {
  const latencies = curves.map(latencyOf)
  const tails = curves.map(tailBeta)
  const begin = new Float64Array(curves.length)
  const sent = new Float64Array(curves.length)
  /** When the last byte sent has left, and with it what is after a pause. */
  const left = new Float64Array(curves.length).fill(Number.NEGATIVE_INFINITY)

  return {
    send(link, at, bytes) {
      const curve = curves[link]!
      const latency = latencies[link]!
      const isBusy = at <= left[link]! + 1e-9
      let arrival = Number.POSITIVE_INFINITY
      // Until the last acknowledgement is back the window is what it was.
      if (at < left[link]! + 2 * latency)
        arrival = Math.max(
          at + latency + tails[link]! * bytes,
          begin[link]! + curveTime(curve, sent[link]! + bytes),
        )
      const afresh = isBusy ? Number.POSITIVE_INFINITY : at + curveTime(curve, bytes)
      if (afresh <= arrival) {
        arrival = afresh
        begin[link] = at
        sent[link] = 0
      }
      sent[link]! += bytes
      left[link] = arrival - latency
      return arrival
    },
    held(link, until) {
      left[link] = Math.max(left[link]!, until)
    },
    reset() {
      left.fill(Number.NEGATIVE_INFINITY)
    },
  }
}
