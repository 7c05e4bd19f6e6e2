/** Links over WebRTC data channels. Signals go out through `signal` and come in through `accept`. */
import { type Clock, realClock } from '../../shared/base/clock.ts'
import { Emitter } from '../../shared/base/emitter.ts'
import type { IceServer } from '../../shared/signaling/events.ts'
import type {
  Link,
  LinkHandler,
  LinkStatus,
  Transport,
  TransportEvents,
} from '../../shared/transport/types.ts'
import { createEarlySignals } from './earlySignals.ts'
import { type LinkOutcome, type PairHistory, Pairing } from './pairing.ts'
import { parsePeerSignal } from './peerSignal.ts'
import { createConnection, type Webrtc } from './simplePeer.ts'

export interface RtcTransportConfig {
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

export interface RtcTransport extends Transport {
  /** @throws {ProtocolError} when the signal is none of ours. */
  accept(from: string, data: unknown): void
}

export function createRtcTransport(config: RtcTransportConfig): RtcTransport {
  return new PeerTransport(config)
}

class PeerTransport extends Emitter<TransportEvents> implements RtcTransport {
  readonly selfId: string
  readonly #config: RtcTransportConfig
  readonly #clock: Clock
  readonly #pairings = new Map<string, Pairing>()
  readonly #early
  readonly #histories = new Map<string, PairHistory>()
  #handler: LinkHandler | undefined
  #unread: { peerId: string; message: Uint8Array }[] = []
  #isClosed = false

  constructor(config: RtcTransportConfig) {
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

  link(peerId: string): Link | undefined {
    return this.#pairings.get(peerId)?.link
  }

  statuses(): readonly LinkStatus[] {
    return [...this.#pairings.values()].map((pairing) => pairing.status())
  }

  receive(handler: LinkHandler): void {
    this.#handler = handler
    for (const { peerId, message } of this.#unread.splice(0)) handler.message(peerId, message)
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
      onOpen: (link) => this.emit('open', link),
      onMessage: (message) => this.#message(peerId, message),
      onDrain: () => this.#handler?.drain(peerId),
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

  #message(peerId: string, message: Uint8Array): void {
    if (this.#handler) this.#handler.message(peerId, message)
    else this.#unread.push({ peerId, message })
  }
}
