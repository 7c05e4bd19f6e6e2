/** What happens to a headless peer, as plain data: with --json one line each, else told in words (peerWords.ts). */
import type { Report } from '../../shared/collective/types.ts'
import type { RunError } from '../session/messages.ts'
import { type Outcome, outcomeOf } from '../session/outcome.ts'
import type { RunRecord } from '../session/runRecorder.ts'
import type { RunSpec } from '../session/runSpec.ts'

interface RunWords {
  readonly runId: string
  /** Who asked for it; undefined when that one has left. */
  readonly by: string | undefined
  readonly spec: RunSpec
}

type Happening =
  /** Has a seat in the room. */
  | { readonly event: 'joined'; readonly room: string; readonly link: string }
  /** The members have agreed on a group with this peer in it: again after each change. */
  | { readonly event: 'ready'; readonly rank: number; readonly size: number; readonly epoch: number }
  /** Why nothing goes on: before the group is ready, or in step `step` of an op. */
  | {
      readonly event: 'waiting'
      readonly for: readonly string[]
      readonly step?: number
      readonly text: string
    }
  /** The connection to the server is lost, or back; the group needs none. */
  | { readonly event: 'server'; readonly state: 'connected' | 'reconnecting' }
  | ({ readonly event: 'started' } & RunWords)
  | ({ readonly event: 'run' } & RunWords & RunVerdict)
  /** Put out by the server for a passing reason: takes a new seat. */
  | { readonly event: 'returning'; readonly code: string; readonly message: string }
  /** Has no seat any more. Without a code it has left by itself. */
  | { readonly event: 'left'; readonly code?: string; readonly message?: string }

export type PeerEvent = Happening & { readonly peerId: string; readonly name: string }

export interface RunVerdict {
  readonly phase: 'done' | 'stopped' | 'failed'
  /** Members when it began, and the names of those who left meanwhile. */
  readonly size: number
  readonly lost: readonly string[]
  readonly error: RunError | undefined
  /** All ranks together, by variant. */
  readonly outcomes: readonly (Outcome & { readonly hash: string | undefined })[]
  /** This rank's last call of each variant, by variant. */
  readonly reports: readonly Omit<Report, 'messages' | 'perStep'>[]
}

export function verdictOf(record: RunRecord): RunWords & RunVerdict {
  const { start, members, lost, error, reports, results } = record
  const { runId, spec } = start
  const variants = spec.variants.map((_, variant) => variant)
  return {
    runId,
    by: members.find(({ peerId }) => peerId === start.by)?.name,
    spec,
    phase: error === undefined ? 'done' : error.code === 'ABORTED' ? 'stopped' : 'failed',
    size: members.length,
    lost: lost.map(({ name }) => name),
    error,
    outcomes: variants.flatMap((variant) => {
      const outcome = outcomeOf(record, variant)
      if (!outcome) return []
      const hashes = new Set([...(results.get(variant)?.values() ?? [])].map(({ hash }) => hash))
      return [{ ...outcome, hash: hashes.size === 1 ? [...hashes][0] : undefined }]
    }),
    reports: variants.flatMap((variant) => {
      const report = reports.get(variant)
      if (!report) return []
      const { messages: _, perStep: __, ...rest } = report
      return [rest]
    }),
  }
}

/** No element is wrong, and where the schedule guarantees the same bits all have them. */
export function isRight({ outcomes }: RunVerdict): boolean {
  return outcomes.every(
    ({ wrong, identical, identicalByDesign }) => wrong === 0 && (identical !== false || !identicalByDesign),
  )
}
