/** The link to one wanted peer: makes it, in several attempts if need be, and says how it stands. */
import type { Clock } from '../../shared/base/clock.ts'
import { LinkError } from '../../shared/base/errors.ts'
import type { LinkState, LinkStatus } from '../../shared/transport/types.ts'
import type { RtcPath } from './icePath.ts'
import type { PeerSignal } from './peerSignal.ts'
import type { CloseReason, Connection, ConnectionOptions } from './simplePeer.ts'

/** ICE gives a network up after 15 to 30 s; on one that works, a connection takes well under a second. */
export const attemptSeconds = 15
export const attempts = 3
/**
 * Before another attempt, and twice as long before the third: a hiccup of the network has time to pass, and the news that the
 * peer has left has time to come.
 */
const pauseSeconds = 0.3
/**
 * A pair that has failed three times is tried again for as long as it is wanted, but ever more seldom: a browser tab can
 * make about 500 connections in its life.
 */
const firstLongPauseSeconds = 5
const longestPauseSeconds = 60

export interface PairingParts {
  readonly selfId: string
  readonly peerId: string
  readonly clock: Clock
  readonly history: PairHistory
  connect(options: Omit<ConnectionOptions, 'webrtc' | 'iceServers'>): Connection
  signal(signal: PeerSignal): void
  onStatus(status: LinkStatus): void
  /** The channel of an attempt, before it opens. */
  onChannel(attempt: number, channel: RTCDataChannel): void
  onOpen(attempt: number, maxMessageBytes: number | undefined): void
  onClose(error: LinkError): void
  /** Told once for each link, by the side that began it: how it goes, or that it could not be made. */
  onOutcome(outcome: LinkOutcome): void
}

/** What outlives a pairing: attempts never repeat, and failures are remembered until a link opens. */
export interface PairHistory {
  /** The last attempt; 0 at first. */
  attempt: number
  /** Pairings in a row that have failed. */
  failures: number
  /** Of the last failure. */
  error?: LinkError | undefined
}

export type LinkOutcome = RtcPath | 'failed'

export class Pairing {
  readonly #parts: PairingParts
  readonly #isInitiator: boolean
  readonly #history: PairHistory
  #state: LinkState = 'signalled'
  #path: RtcPath = 'unknown'
  #connection: Connection | undefined
  /** The other side's description of this attempt has come. */
  #isDescribed = false
  #tries = 0
  #cancelTimer: (() => void) | undefined

  constructor(parts: PairingParts) {
    this.#parts = parts
    // One of the two begins, so that two offers can never cross.
    this.#isInitiator = parts.selfId < parts.peerId
    this.#history = parts.history
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  status(): LinkStatus {
    const { error } = this.#history
    return { peerId: this.#parts.peerId, state: this.#state, path: this.#path, ...(error && { error }) }
  }

  start(): void {
    this.#parts.onStatus(this.status())
    if (this.isClosed) return
    const { failures, attempt } = this.#history
    if (this.#isInitiator) {
      const longPause = Math.min(firstLongPauseSeconds * 2 ** (failures - 1), longestPauseSeconds)
      if (attempt === 0) this.#begin(1)
      else this.#after(failures > 0 ? longPause : pauseSeconds, () => this.#begin(attempt + 1))
      return
    }
    // The other side may still believe in the link that this side has lost.
    if (attempt > 0) this.#again()
    this.#wait(attempts * attemptSeconds)
  }

  accept(signal: PeerSignal): void {
    if (this.isClosed || signal.attempt < this.#history.attempt) return
    if (signal.type === 'again') {
      if (this.#isInitiator && this.#connection && signal.attempt === this.#history.attempt)
        this.#ended({ code: 'CHANNEL_CLOSED' })
      return
    }
    if (signal.attempt > this.#history.attempt) {
      if (this.#isInitiator) return
      if (this.#state === 'open') {
        this.#close('CHANNEL_CLOSED', 'the other side lost it and began a new one')
        return
      }
      this.#begin(signal.attempt)
    } else if (this.#state === 'signalled') {
      this.#become('checking')
    }
    if (signal.type !== 'candidate') {
      // Each attempt has one offer and one answer: a second one can only be an echo.
      if (this.#isDescribed || (signal.type === 'offer') === this.#isInitiator) return
      this.#isDescribed = true
    }
    this.#connection?.signal(signal)
  }

  channelOpened(attempt: number): void {
    if (this.#isCurrent(attempt)) this.#connection?.channelOpened()
  }

  channelClosed(attempt: number): void {
    if (this.#isCurrent(attempt)) this.#connection?.channelClosed()
  }

  /** The channel has refused a message: it can never be sent, and the link is of no more use. */
  channelBroken(attempt: number, cause: unknown): void {
    if (this.#isCurrent(attempt))
      this.#close('CHANNEL_CLOSED', 'closed while a message was being sent', cause)
  }

  /** This side does not want the link any more. */
  leave(): void {
    if (!this.isClosed) this.#close('CHANNEL_CLOSED', 'closed by this side, which does not want it any more')
  }

  #begin(attempt: number): void {
    this.#connection?.close()
    this.#history.attempt = attempt
    this.#tries++
    this.#isDescribed = false
    this.#become(this.#isInitiator ? 'signalled' : 'checking')
    if (this.isClosed) return
    this.#wait(attemptSeconds)
    const current = () => this.#isCurrent(attempt)
    const connection = this.#parts.connect({
      isInitiator: this.#isInitiator,
      onSignal: (negotiation) => {
        if (current()) this.#parts.signal({ ...negotiation, attempt } as PeerSignal)
      },
      onChannel: (channel) => this.#parts.onChannel(attempt, channel),
      onOpen: () => {
        if (current()) this.#open(connection)
      },
      onClose: (reason) => {
        if (current()) this.#ended(reason)
      },
    })
    this.#connection = connection
  }

  #isCurrent(attempt: number): boolean {
    return attempt === this.#history.attempt && !this.isClosed
  }

  #open(connection: Connection): void {
    this.#cancelTimer?.()
    const { attempt } = this.#history
    this.#history.failures = 0
    this.#history.error = undefined
    this.#become('open')
    if (!this.isClosed) this.#parts.onOpen(attempt, connection.maxMessageBytes)
    void connection.path().then((path) => {
      if (!this.#isCurrent(attempt)) return
      this.#path = path
      this.#parts.onStatus(this.status())
      if (this.#isInitiator) this.#parts.onOutcome(path)
    })
  }

  /** The connection is gone: of an open link that is the end, of an attempt perhaps not. */
  #ended({ code, cause }: CloseReason): void {
    if (code === 'PC_LIMIT') {
      this.#close(
        code,
        'this tab has made too many connections; close the tab and open the page again',
        cause,
      )
    } else if (this.#state === 'open') {
      const isClean = code === 'CHANNEL_CLOSED'
      this.#close(code, isClean ? 'closed by the other side' : 'the network path to it was lost', cause)
    } else {
      this.#failed(cause)
    }
  }

  #failed(cause: Error | undefined): void {
    // After earlier failures one attempt at a time is enough.
    if (this.#tries >= attempts || this.#history.failures > 0) {
      this.#close('ICE_FAILED', this.#failure(), cause)
      return
    }
    this.#connection?.close()
    this.#connection = undefined
    this.#become('signalled')
    if (this.#isInitiator) {
      this.#after(pauseSeconds * this.#tries, () => this.#begin(this.#history.attempt + 1))
    } else {
      this.#again()
      this.#wait(2 * attemptSeconds)
    }
  }

  #failure(): string {
    const isSilent = this.#state === 'signalled'
    if (isSilent && !this.#isInitiator) return 'it made no offer in time'
    const times = this.#tries === 1 ? 'one attempt' : `${this.#tries} attempts`
    const stage = isSilent ? 'it did not answer' : 'no network path to it was found'
    return `${stage} in ${times} of up to ${attemptSeconds} s`
  }

  #again(): void {
    this.#parts.signal({ type: 'again', attempt: this.#history.attempt })
  }

  #wait(seconds: number): void {
    this.#after(seconds, () => {
      // Without a connection it is the other side that should have begun one.
      if (!this.#connection) this.#tries = attempts
      this.#failed(undefined)
    })
  }

  #after(seconds: number, action: () => void): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#parts.clock.after(seconds, action)
  }

  #close(code: CloseReason['code'], reason: string, cause?: unknown): void {
    const { peerId } = this.#parts
    this.#cancelTimer?.()
    this.#connection?.close()
    const error = new LinkError(code, `Link to ${peerId}: ${reason}.`, { peerId, cause })
    const hasFailed = this.#state !== 'open' && code !== 'CHANNEL_CLOSED'
    this.#history.error = error
    if (hasFailed) this.#history.failures++
    this.#become('closed')
    if (hasFailed && this.#isInitiator) this.#parts.onOutcome('failed')
    this.#parts.onClose(error)
  }

  #become(state: LinkState): void {
    if (state === this.#state) return
    this.#state = state
    this.#parts.onStatus(this.status())
  }
}
