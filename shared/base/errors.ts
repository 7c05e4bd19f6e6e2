/**
 * Every error that a user of Papilio can meet. A caller decides by `code`, `retryable` and the typed fields;
 * the message is for people: it names who, what and what to do.
 */

import type { ErrorCode } from './errorCodes.ts'

export type { ErrorCode }

export interface ErrorDetails {
  /** The same call may succeed when made again, without the caller changing anything. */
  retryable?: boolean
  cause?: unknown
}

export class PapilioError extends Error {
  readonly code: ErrorCode
  readonly retryable: boolean

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = new.target.name
    this.code = code
    this.retryable = details.retryable ?? false
  }
}

/** A peer as errors and reports name it. */
export interface PeerName {
  rank: number
  peerId: string
  name: string
}

/** The op did not end within its time-out; `waitingFor` names the ranks whose data had not come. */
export class TimeoutError extends PapilioError {
  readonly op: number
  readonly step: number
  readonly waitingFor: readonly PeerName[]

  constructor(message: string, fields: { op: number; step: number; waitingFor: readonly PeerName[] }) {
    super('TIMEOUT', message, { retryable: true })
    this.op = fields.op
    this.step = fields.step
    this.waitingFor = fields.waitingFor
  }
}

/** A member left while its data was needed. The next op runs with the members that remain. */
export class PeerLostError extends PapilioError {
  readonly peer: PeerName
  readonly epoch: number

  constructor(message: string, fields: { peer: PeerName; epoch: number; cause?: unknown }) {
    super('PEER_LOST', message, { retryable: true, cause: fields.cause })
    this.peer = fields.peer
    this.epoch = fields.epoch
  }
}

/** The call was bound to an epoch, and the members have changed: it took no number, and is refused alike on all ranks. */
export class EpochError extends PapilioError {
  /** Where and among whom the call would have run. */
  readonly epoch: number
  readonly members: readonly PeerName[]

  constructor(
    wanted: number,
    fields: { epoch: number; members: readonly PeerName[] },
    reason = 'The members have changed',
  ) {
    super('EPOCH_CHANGED', `${reason}: the call was for epoch ${wanted}, this is ${fields.epoch}.`, {
      retryable: true,
    })
    this.epoch = fields.epoch
    this.members = fields.members
  }
}

/** The ranks made different calls. `byRank` has what each rank asked for; nobody's input was touched. */
export class MismatchError extends PapilioError {
  readonly field: string
  readonly byRank: Readonly<Record<number, string | number>>

  constructor(message: string, fields: { field: string; byRank: Readonly<Record<number, string | number>> }) {
    super('MISMATCH', message)
    this.field = fields.field
    this.byRank = fields.byRank
  }
}

/** No rank has samples or a weight that count: nothing to average, on all ranks alike; nothing was changed. */
export class NoSamplesError extends PapilioError {
  constructor() {
    super(
      'NO_SAMPLES',
      'No rank has samples that count, all weights are 0: there is nothing to average. Nothing was changed.',
    )
  }
}

/** Ranks have NaN or infinities in their data; the same on all ranks, and nothing was changed on any of them. */
export class NonFiniteError extends PapilioError {
  readonly peers: readonly PeerName[]
  /** How many values of each of these ranks are no finite numbers, where that is known. */
  readonly byRank: Readonly<Record<number, number>>

  constructor(peers: readonly PeerName[], byRank: Readonly<Record<number, number>> = {}) {
    const names = peers.map(({ rank, name }) => {
      const count = byRank[rank]
      return `${name} (rank ${rank})${count === undefined ? '' : `: ${count}`}`
    })
    super(
      'NON_FINITE',
      `There are values that are not finite numbers in the data of ${names.join(', ')}. Nothing was changed.`,
    )
    this.peers = peers
    this.byRank = byRank
  }
}

/** Foreign input broke a rule; `issue` says which. */
export class ProtocolError extends PapilioError {
  readonly issue: string

  constructor(issue: string, details: ErrorDetails = {}) {
    super('PROTOCOL', `Protocol error: ${issue}`, details)
    this.issue = issue
  }
}

export class AbortedError extends PapilioError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ABORTED', message, details)
  }
}

export class UnsupportedError extends PapilioError {
  readonly feature: string

  constructor(feature: string, message: string) {
    super('UNSUPPORTED', message)
    this.feature = feature
  }
}

/** A schedule breaks a rule of the collective it claims to perform: the verifier's verdict. */
export class ScheduleError extends PapilioError {
  readonly rank: number
  readonly step: number

  constructor(message: string, fields: { rank: number; step: number }) {
    super('SCHEDULE_INVALID', message)
    this.rank = fields.rank
    this.step = fields.step
  }
}

/** A link between two peers could not be made or has ended; `peerId` is the other side. */
export class LinkError extends PapilioError {
  readonly peerId: string

  constructor(
    code: 'CHANNEL_CLOSED' | 'ICE_FAILED' | 'PC_LIMIT',
    message: string,
    fields: { peerId: string; cause?: unknown },
  ) {
    super(code, message, { cause: fields.cause })
    this.peerId = fields.peerId
  }
}

export type RefusalCode =
  | 'RATE_LIMITED'
  | 'ROOM_CLOSED'
  | 'ROOM_FULL'
  | 'ROOM_LOCKED'
  | 'ROOM_UNKNOWN'
  | 'PROTOCOL'
  | 'VERSION_MISMATCH'

/** The signalling server refused the join. */
export class JoinError extends PapilioError {
  constructor(
    code: RefusalCode | 'SIGNAL_UNREACHABLE' | 'GROUP_NOT_FORMED' | 'NO_WEBRTC',
    message: string,
    details: ErrorDetails = {},
  ) {
    super(code, message, details)
  }
}

/** The caller passed something that can never work; the message says what is allowed. */
export class ArgumentError extends PapilioError {
  readonly argument: string

  constructor(argument: string, message: string) {
    super('INVALID_ARGUMENT', message)
    this.argument = argument
  }
}
