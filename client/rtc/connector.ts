/**
 * Makes the connections to the peers that are wanted, and hands out their channels before these open. Signals go out through `signal` and come
 * in through `accept`. It never sees data: who has the channels may live in a worker, and tells here what becomes of them.
 */
import { type Clock, realClock } from '../../shared/base/clock.ts'
import { Emitter, type Events } from '../../shared/base/emitter.ts'
import type { LinkError } from '../../shared/base/errors.ts'
import type { IceServer } from '../../shared/signaling/events.ts'
import type { LinkStatus } from '../../shared/transport/types.ts'
import { createEarlySignals } from './earlySignals.ts'
import { type LinkOutcome, type PairHistory, Pairing } from './pairing.ts'
import { parsePeerSignal } from './peerSignal.ts'
import { createConnection, type Webrtc } from './simplePeer.ts'

export interface ConnectorConfig {
  readonly selfId: string
  readonly webrtc: Webrtc
  /** Asked for each connection: credentials of a TURN server may change. Default: none. */
  iceServers?(): readonly IceServer[]
  /** Carries a signal (JSON) to another peer's `accept`. Signals may be lost; those that arrive must keep their order. */
  signal(to: string, data: unknown): void
  /** How a link goes, or that it could not be made: told once for each, on the side of the smaller peerId. */
  onOutcome?(peerId: string, outcome: LinkOutcome): void
  readonly clock?: Clock
}

/** A channel is named by its peer and its attempt, of which no two of a pair are equal. */
export interface ConnectorEvents {
  channel: { readonly peerId: string; readonly attempt: number; readonly channel: RTCDataChannel }
  open: {
    readonly peerId: string
    readonly attempt: number
    /** As the two sides have agreed; undefined when the implementation does not say. */
    readonly maxMessageBytes: number | undefined
  }
  close: { readonly peerId: string; readonly error: LinkError }
  status: LinkStatus
}

/** What whoever has the channels sees of the connector. */
export interface ChannelSource extends Events<ConnectorEvents> {
  readonly selfId: string
  want(peerIds: readonly string[]): void
  opened(peerId: string, attempt: number): void
  closed(peerId: string, attempt: number): void
  /** The channel has refused a message. */
  broken(peerId: string, attempt: number, cause: unknown): void
  close(): void
}

export interface Connector extends ChannelSource {
  /** @throws {ProtocolError} when the signal is none of ours. */
  accept(from: string, data: unknown): void
  statuses(): readonly LinkStatus[]
}

export function createConnector(config: ConnectorConfig): Connector {
  return new PeerConnector(config)
}

class PeerConnector extends Emitter<ConnectorEvents> implements Connector {
  readonly selfId: string
  readonly #config: ConnectorConfig
  readonly #clock: Clock
  readonly #pairings = new Map<string, Pairing>()
  readonly #early
  readonly #histories = new Map<string, PairHistory>()
  #isClosed = false

  constructor(config: ConnectorConfig) {
    super()
    this.#config = config
    this.selfId = config.selfId
    this.#clock = config.clock ?? realClock
    this.#early = createEarlySignals(this.#clock)
  }

  want(peerIds: readonly string[]): void {
    if (this.#isClosed) return
    const wanted = new Set(peerIds)
    wanted.delete(this.selfId)
    for (const [peerId, pairing] of [...this.#pairings]) {
      if (wanted.has(peerId)) continue
      this.#pairings.delete(peerId)
      pairing.leave()
      // Who is wanted again later gets a fresh start.
      this.#histories.set(peerId, { attempt: this.#history(peerId).attempt, failures: 0 })
    }
    for (const peerId of wanted) {
      const pairing = this.#pairings.get(peerId)
      if (!pairing || pairing.isClosed) this.#begin(peerId)
    }
  }

  accept(from: string, data: unknown): void {
    const signal = parsePeerSignal(from, data)
    if (this.#isClosed || from === this.selfId) return
    const pairing = this.#pairings.get(from)
    pairing?.accept(signal)
    if (pairing && !pairing.isClosed) return
    // Only the side that answers can be spoken to before it wants the link.
    if (from < this.selfId && signal.attempt > (this.#histories.get(from)?.attempt ?? 0))
      this.#early.keep(from, signal)
  }

  opened(peerId: string, attempt: number): void {
    this.#pairings.get(peerId)?.channelOpened(attempt)
  }

  closed(peerId: string, attempt: number): void {
    this.#pairings.get(peerId)?.channelClosed(attempt)
  }

  broken(peerId: string, attempt: number, cause: unknown): void {
    this.#pairings.get(peerId)?.channelBroken(attempt, cause)
  }

  statuses(): readonly LinkStatus[] {
    return [...this.#pairings.values()].map((pairing) => pairing.status())
  }

  close(): void {
    this.want([])
    this.#isClosed = true
  }

  #begin(peerId: string): void {
    const pairing = new Pairing({
      selfId: this.selfId,
      peerId,
      clock: this.#clock,
      history: this.#history(peerId),
      connect: (options) =>
        createConnection({
          webrtc: this.#config.webrtc,
          iceServers: this.#config.iceServers?.() ?? [],
          ...options,
        }),
      signal: (signal) => this.#config.signal(peerId, signal),
      onStatus: (status) => this.emit('status', status),
      onChannel: (attempt, channel) => this.emit('channel', { peerId, attempt, channel }),
      onOpen: (attempt, maxMessageBytes) => this.emit('open', { peerId, attempt, maxMessageBytes }),
      onClose: (error) => this.emit('close', { peerId, error }),
      onOutcome: (outcome) => this.#config.onOutcome?.(peerId, outcome),
    })
    this.#pairings.set(peerId, pairing)
    pairing.start()
    for (const signal of this.#early.take(peerId)) pairing.accept(signal)
  }

  #history(peerId: string): PairHistory {
    const history = this.#histories.get(peerId) ?? { attempt: 0, failures: 0 }
    this.#histories.set(peerId, history)
    return history
  }
}
