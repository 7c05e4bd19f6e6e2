/** What a page and the worker that runs its group say to each other. Both are of one build: nothing here is foreign. */
import type { GroupState, Progress } from '../../shared/collective/types.ts'
import type { NetworkModel } from '../../shared/cost/types.ts'
import type { Member, View } from '../../shared/membership/types.ts'
import type { LinkStatus } from '../../shared/transport/types.ts'
import type { NumericArray } from '../../shared/wire/dtype.ts'
import type { ConnectorEvents } from '../rtc/connector.ts'
import type { SentError } from './sentErrors.ts'

/** A MessagePort, or a worker and what it sees of its page. */
export interface Port {
  postMessage(message: unknown, transfer: Transferable[]): void
  onmessage: ((event: MessageEvent) => unknown) | null
}

/** A worker as its page has it. */
export interface GroupWorker {
  post(message: ToWorker, transfer: Transferable[]): void
  onMessage(listener: (message: ToPage) => void): void
  /** Nothing more will come from it. */
  onError(listener: (error: Error) => void): void
  stop(): void
}

/** Stands in the arguments of a call for an array that was sent before, piece by piece. */
export interface SentArray {
  readonly sentArray: number
}

/** Stands for a fold of the caller's own: the worker has loaded the module that it is the default export of. */
export interface SentFold {
  readonly foldModule: string
}

/** What a call says beside its arguments. */
export interface CallHooks {
  readonly wantsProgress: boolean
  /** Names the handle of an error feedback, which lives in the worker. */
  readonly feedback?: number
}

export type ToWorker =
  | { type: 'start'; selfId: string; view: View | undefined; silenceSeconds: number | undefined }
  | { type: 'view'; view: View }
  | ({ type: 'channel' } & ConnectorEvents['channel'])
  | ({ type: 'open' } & ConnectorEvents['open'])
  | { type: 'close'; peerId: string; error: SentError }
  | { type: 'status'; status: Omit<LinkStatus, 'error'>; error: SentError | undefined }
  | { type: 'array'; key: number; like: NumericArray; length: number }
  | { type: 'piece'; key: number; at: number; bytes: ArrayBuffer }
  | { type: 'call'; id: number; method: string; args: unknown[]; hooks: CallHooks }
  | { type: 'fold'; module: string }
  | { type: 'abort'; id: number }
  | { type: 'tell'; data: unknown; to: string | undefined }
  | { type: 'listen' }
  | { type: 'offer'; isOffered: boolean }
  | { type: 'offered'; state: Uint8Array | undefined; error: SentError | undefined }
  | { type: 'left' }

/** What can be asked of the group without waiting. */
export interface Snapshot {
  readonly rank: number
  readonly size: number
  readonly epoch: number
  readonly members: readonly Member[]
  readonly roster: readonly Member[]
  readonly state: GroupState
  /** When it is another than the last one told. */
  readonly model?: NetworkModel
}

export type ToPage =
  | { type: 'loaded' }
  | { type: 'ready'; methods: readonly string[]; snapshot: Snapshot }
  | { type: 'event'; name: string; value: unknown; snapshot: Snapshot }
  | { type: 'progress'; id: number; progress: Progress }
  | { type: 'result'; id: number; value: unknown }
  | { type: 'failure'; id: number; error: SentError }
  | { type: 'fold'; module: string; error: SentError | undefined }
  | { type: 'ask-state' }
  | { type: 'want'; peerIds: readonly string[] }
  | { type: 'opened' | 'closed'; peerId: string; attempt: number }
  | { type: 'broken'; peerId: string; attempt: number; error: SentError }
  | { type: 'shut' }
  | { type: 'doubt'; peerId: string }
  | { type: 'lost'; peerId: string; reason: string; wasOpen: boolean }
  | { type: 'leave' }
