/** What a member tells of runs, in the order in which it happens. */
import type { Progress, Report, Waiting } from '../../shared/collective/types.ts'
import type { About, RankResult, RunError } from './messages.ts'
import type { Compared } from './part.ts'
import type { Call, RunSpec } from './runSpec.ts'

export interface RunStart {
  readonly runId: string
  readonly requestId: string
  /** peerId of who asked for it. */
  readonly by: string
  readonly epoch: number
  readonly seed: number
  readonly spec: RunSpec
}

export interface RunEvents {
  /** A member follows orders (again). */
  present: { peerId: string; about: About }
  refused: { requestId: string; reason: string }
  started: RunStart
  /** Links are being measured; runs wait. */
  measuring: { runId: string }
  measured: { runId: string; error?: RunError }
  call: Call & { runId: string; index: number; total: number }
  /** Of this rank. */
  progress: { runId: string; progress: Progress }
  /** Of another rank, in a long call. */
  peerProgress: { runId: string; peerId: string; step: number; fraction: number }
  waiting: { runId: string; waiting: Waiting }
  /** This rank's own report, after each measured call. */
  report: { runId: string; call: Call; report: Report }
  /** What one rank says of one variant. */
  result: { runId: string; peerId: string; result: RankResult }
  spread: { runId: string; variant: number; spread: Compared }
  failed: { runId: string; peerId: string; error: RunError }
  finished: { runId: string; error?: RunError }
}
