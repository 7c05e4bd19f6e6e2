/**
 * Everything that the page shows follows from these events, in the order in which they were logged: live, in a test, and in a
 * replay. Plain data: an event can be written to a file.
 */
import type { GroupState, Progress, Report, Waiting } from '../../../shared/collective/types.ts'
import type { NetworkModel } from '../../../shared/cost/types.ts'
import type { Member } from '../../../shared/membership/types.ts'
import type { LinkPath, LinkState } from '../../../shared/transport/types.ts'
import type { About, RankResult, RunError } from '../../session/messages.ts'
import type { Compared } from '../../session/part.ts'
import type { RunStart } from '../../session/runEvents.ts'
import type { Call } from '../../session/runSpec.ts'

export interface LinkEvent {
  readonly peerId: string
  readonly state: LinkState
  readonly path: LinkPath
  /** Why it closed. */
  readonly error?: { readonly code: string; readonly message: string }
}

export type LabEvent =
  /** This page asks for a place in the room (undefined: a new one). */
  | { readonly kind: 'joining'; readonly room: string | undefined }
  | { readonly kind: 'joined'; readonly room: string; readonly peerId: string; readonly name: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** The server took the place away because this page did not answer; it asks for it again. */
  | { readonly kind: 'returning'; readonly code: string; readonly message: string }
  /** The connection to the signalling server. */
  | { readonly kind: 'signal'; readonly isConnected: boolean }
  | {
      readonly kind: 'group'
      readonly state: GroupState
      readonly epoch: number
      readonly members: readonly Member[]
    }
  | ({ readonly kind: 'link' } & LinkEvent)
  /** A member follows orders, and what it says of itself. */
  | { readonly kind: 'present'; readonly peerId: string; readonly about: About }
  | { readonly kind: 'model'; readonly model: NetworkModel }
  | { readonly kind: 'measuring' }
  /** The links of this epoch have been measured, or could not be. */
  | { readonly kind: 'measured'; readonly error?: RunError }
  /** Peers inside this page, or tabs that this page opens. */
  | { readonly kind: 'adding'; readonly count: number }
  | { readonly kind: 'added'; readonly peerId: string }
  | { readonly kind: 'add-failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'removing'; readonly peerId: string }
  | { readonly kind: 'tabs'; readonly asked: number; readonly opened: number }
  | { readonly kind: 'requested'; readonly requestId: string }
  | { readonly kind: 'request-refused'; readonly requestId: string; readonly reason: string }
  | { readonly kind: 'run-started'; readonly start: RunStart }
  | {
      readonly kind: 'call'
      readonly runId: string
      readonly call: Call
      readonly index: number
      readonly total: number
    }
  | { readonly kind: 'progress'; readonly runId: string; readonly progress: Progress }
  | {
      readonly kind: 'peer-progress'
      readonly runId: string
      readonly peerId: string
      readonly step: number
      readonly fraction: number
    }
  | { readonly kind: 'waiting'; readonly runId: string; readonly waiting: Waiting }
  | { readonly kind: 'report'; readonly runId: string; readonly call: Call; readonly report: Report }
  | {
      readonly kind: 'result'
      readonly runId: string
      readonly peerId: string
      readonly result: RankResult
    }
  | {
      readonly kind: 'spread'
      readonly runId: string
      readonly variant: number
      readonly spread: Compared
    }
  | { readonly kind: 'run-failed'; readonly runId: string; readonly peerId: string; readonly error: RunError }
  | { readonly kind: 'run-finished'; readonly runId: string; readonly error?: RunError }
  | { readonly kind: 'dismissed' }

export interface LogEntry {
  /** Seconds since the log began. */
  readonly at: number
  readonly event: LabEvent
}
