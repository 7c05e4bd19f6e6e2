/**
 * What the network costs, as measured. Seconds and bytes. A link is described by a curve and not by two numbers: on a
 * link with a round trip the window of the SCTP association rules messages of 4 KB to 1 MB (docs/cost-model.md).
 */

/** One-way time of a lone message of `bytes` bytes, sent after a pause. */
export interface CurvePoint {
  readonly bytes: number
  readonly seconds: number
}

/** Measured cost of one directed link. Points ascend in bytes and, once fitted, in seconds. */
export interface LinkCurve {
  readonly points: readonly CurvePoint[]
  /** Alpha-beta as the page teaches it: least squares over the points; residual is the relative RMS error of that line. */
  readonly alpha: number
  readonly beta: number
  readonly residual: number
}

/** One agreed set of parameters: the same bits on every rank. */
export interface NetworkModel {
  /** 0 is the built-in guess; each agreement adds 1. */
  readonly version: number
  readonly size: number
  /** links[from][to]; undefined where there is no link. */
  readonly links: readonly (readonly (LinkCurve | undefined)[])[]
  /** Seconds to combine one byte. */
  readonly gamma: number
  /** Seconds that a rank spends on each message that it sends or receives (the o of LogGP). */
  readonly overhead: number
  /** Seconds per byte of a host's uplink or downlink, shared by all messages of a step that go over it. */
  readonly hostBeta: number
}

export interface Prediction {
  readonly algorithm: string
  readonly settings: Readonly<Record<string, number | string>>
  readonly seconds: number
  /** Where the time goes: latency, bytes, combining. They add up to `seconds`. */
  readonly parts: { readonly alpha: number; readonly beta: number; readonly gamma: number }
  readonly steps: number
  /** Bytes that the busiest rank sends. */
  readonly bytesSent: number
  readonly identical: boolean
}
