/**
 * What the network costs, as measured. Seconds and bytes. A link is described by a curve and not by two numbers: on a
 * link with a round trip the window of the SCTP association rules messages of 4 KB to 1 MB (docs/cost-model.md).
 */
import type { Collective, Settings } from '../schedule/types.ts'

/** One-way time of a lone message of `bytes` bytes, sent after a pause. */
export interface CurvePoint {
  readonly bytes: number
  readonly seconds: number
}

/** Measured cost of one directed link. Points ascend in bytes and, once fitted, in seconds. */
export interface LinkCurve {
  readonly points: readonly CurvePoint[]
  /**
   * Alpha-beta as the page teaches it: least squares over the points; residual is the relative RMS error of that
   * line.
   */
  readonly alpha: number
  readonly beta: number
  readonly residual: number
  /** Seconds per byte beyond the last point, where more is known than the slope of the last two (foldModel). */
  readonly tail?: number
  /** 0 .. 1: how far the samples pin the points down. 0 is a guess; near 1 is many samples that agree. */
  readonly confidence?: number
}

/** What the rank itself costs, whatever the link. */
export interface HostCost {
  /** Seconds to combine one byte. */
  readonly gamma: number
  /** Seconds that the rank spends on each message that it sends or receives (the o of LogGP). */
  readonly overhead: number
  /** Seconds per byte of its uplink or downlink, shared by all messages that go over it. */
  readonly hostBeta: number
}

/** What one rank has measured: the content of its row in the table that all ranks exchange. */
export interface RankMeasurement extends HostCost {
  /** Links to the other ranks, by rank; undefined where nothing was measured. */
  readonly links: readonly (LinkCurve | undefined)[]
  /** Seconds per byte of the traffic of all ranks together, while all of them send; 0 when not measured. */
  readonly sharedBeta: number
  /** Seconds per message of all ranks together, while all of them send small ones; 0 when not measured. */
  readonly sharedOverhead: number
}

/** One agreed set of parameters: the same bits on every rank. */
export interface NetworkModel extends HostCost {
  /** 0 is the built-in guess; each agreement adds 1. */
  readonly version: number
  readonly size: number
  /** links[from][to]; undefined where there is no link. */
  readonly links: readonly (readonly (LinkCurve | undefined)[])[]
  /** By rank. Absent: all ranks cost what the model itself says; present: the model itself has the slowest rank's. */
  readonly hosts?: readonly HostCost[]
  /**
   * What all ranks share, per byte and per message of everybody's traffic: the processor of one machine, the air of
   * one Wi-Fi cell. On a switched network it is about hostBeta / size, and then it never decides.
   */
  readonly sharedBeta?: number
  readonly sharedOverhead?: number
}

export interface Prediction {
  readonly algorithm: string
  readonly settings: Settings
  readonly seconds: number
  /** Where the time goes: latency, bytes, combining. They add up to `seconds`. */
  readonly parts: { readonly alpha: number; readonly beta: number; readonly gamma: number }
  readonly steps: number
  /** Bytes that the busiest rank sends. */
  readonly bytesSent: number
  readonly identical: boolean
}

/** What a call asks for, as far as the choice depends on it. */
export interface ChoiceRequest {
  readonly size: number
  /** Of the whole vector. */
  readonly bytes: number
  /** Default allreduce. */
  readonly collective?: Collective
  /** The result depends on the operand order: sums of floats do, integers, min and max do not. */
  readonly rounds: boolean
  readonly commutative: boolean
  readonly idempotent: boolean
  /** No operand may be combined on more than one rank: what travels is rounded, and each rounding must count once. */
  readonly once?: boolean
  /** `identical`: all ranks end with the same bits. */
  readonly consistency: 'identical' | 'fast'
  /** Name, or `auto` (default): the best of all that the call admits. */
  readonly algorithm?: string
  /** Steps removed; `auto`: the best for this size of vector. */
  readonly r?: number | 'auto'
  /** Other parameters; the value `auto` leaves one to the choice. */
  readonly settings?: Settings
  /** `some`: only a few links per rank can be opened; `kept`: only those of a large group are there (linksOf). Default all. */
  readonly links?: 'all' | 'some' | 'kept'
  /** Work space beyond input and result that a rank can spare, bytes. Default: no limit. */
  readonly memoryBytes?: number
}

/** What `predict` answers: every candidate, the chosen one, and why. */
export interface Choice {
  readonly chosen: Prediction
  /** Fastest first; those far behind are only estimated (search.ts). */
  readonly candidates: readonly Prediction[]
  /** Candidates that the call does not admit, with the reason. */
  readonly refused: readonly {
    readonly algorithm: string
    readonly settings: Settings
    readonly reason: string
  }[]
  readonly why: string
}
