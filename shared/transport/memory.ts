/**
 * A network inside one process, for tests, teaching and the fault simulator. Every link has a delay, a bandwidth and
 * a bounded queue; peers can be frozen or killed and links cut. Runs of equal seeds and calls are equal.
 */
import { type Clock, realClock } from '../base/clock.ts'
import { Emitter } from '../base/emitter.ts'
import { ArgumentError, LinkError } from '../base/errors.ts'
import { createPrng } from '../base/prng.ts'
import { checkMessageSize } from './messageSize.ts'
import type { Link, LinkHandler, LinkState, LinkStatus, Transport, TransportEvents } from './types.ts'

/** What a message meets on its way. */
export interface LinkShape {
  /** One-way delay in seconds. */
  readonly latency: number
  /** Bytes per second in each direction; Infinity for no limit. */
  readonly bandwidth: number
  /** Up to this many seconds are added to the delay of each message, by the seed. Order is kept. */
  readonly jitter: number
}

export interface MemoryNetworkOptions extends Partial<LinkShape> {
  /** Moves all delays; where there is no delay, delivery is a microtask. */
  clock?: Clock
  seed?: number
  /** `send` answers false above it, bytes. Bytes count until they are delivered. */
  highMark?: number
  /** `drain` comes at or below it, bytes. */
  lowMark?: number
  maxMessageBytes?: number
  /** Seconds until a peer notices that the other was killed or the link cut. Infinity: never. */
  noticeSeconds?: number
  /** Sees each message just before its delivery; the place to inject a fault at an exact message. */
  onDeliver?: (delivery: { from: string; to: string; message: Uint8Array }) => void
}

export interface MemoryNetwork {
  /** A new peer. The id may be used again once its transport was closed or the peer killed. */
  transport(peerId: string): Transport
  /** Changes delay and bandwidth between two peers, for messages sent from now on. */
  shape(a: string, b: string, shape: Partial<LinkShape>): void
  /** Breaks the link; until `mend` no new one can be made between the two. */
  cut(a: string, b: string): void
  mend(a: string, b: string): void
  /** The peer vanishes without a word. */
  kill(peerId: string): void
  /** The peer stops: what is on its way to it, and what it sends, waits for `thaw`. */
  freeze(peerId: string): void
  thaw(peerId: string): void
}

export function createMemoryNetwork(options: MemoryNetworkOptions = {}): MemoryNetwork {
  const network = new Network(options)
  return {
    transport: (peerId) => network.join(peerId),
    shape: (a, b, shape) => network.shapes.set(pair(a, b), { ...network.shapeOf(a, b), ...shape }),
    cut: (a, b) => network.cut(a, b),
    mend: (a, b) => network.cuts.delete(pair(a, b)),
    kill: (peerId) => network.peers.get(peerId)?.die(),
    freeze: (peerId) => network.peers.get(peerId)?.freeze(),
    thaw: (peerId) => network.peers.get(peerId)?.thaw(),
  }
}

type LossCode = 'CHANNEL_CLOSED' | 'ICE_FAILED'

const linkError = (code: LossCode, peerId: string, reason: string) =>
  new LinkError(code, `Link to ${peerId}: ${reason}.`, { peerId })

const pair = (a: string, b: string) => (a < b ? `${a} ${b}` : `${b} ${a}`)

class Network {
  readonly clock: Clock
  readonly highMark: number
  readonly lowMark: number
  readonly maxMessageBytes: number
  readonly noticeSeconds: number
  readonly onDeliver: MemoryNetworkOptions['onDeliver']
  readonly peers = new Map<string, Peer>()
  readonly shapes = new Map<string, LinkShape>()
  readonly cuts = new Set<string>()
  readonly random: () => number
  readonly #shape: LinkShape

  constructor(options: MemoryNetworkOptions) {
    this.clock = options.clock ?? realClock
    this.highMark = options.highMark ?? 1024 * 1024
    this.lowMark = options.lowMark ?? Math.floor(this.highMark / 4)
    this.maxMessageBytes = options.maxMessageBytes ?? 256 * 1024
    this.noticeSeconds = options.noticeSeconds ?? 0
    this.onDeliver = options.onDeliver
    this.random = createPrng(options.seed ?? 1).next
    this.#shape = {
      latency: options.latency ?? 0,
      bandwidth: options.bandwidth ?? Number.POSITIVE_INFINITY,
      jitter: options.jitter ?? 0,
    }
  }

  join(peerId: string): Peer {
    if (this.peers.has(peerId)) {
      throw new ArgumentError('peerId', `The memory network already has a peer "${peerId}"; take another id.`)
    }
    const peer = new Peer(this, peerId)
    this.peers.set(peerId, peer)
    return peer
  }

  shapeOf(a: string, b: string): LinkShape {
    return this.shapes.get(pair(a, b)) ?? this.#shape
  }

  later(seconds: number, action: () => void): void {
    if (seconds <= 0) queueMicrotask(action)
    else if (seconds !== Number.POSITIVE_INFINITY) this.clock.after(seconds, action)
  }

  cut(a: string, b: string): void {
    this.cuts.add(pair(a, b))
    this.peers.get(a)?.ends.get(b)?.sever(`the link between ${a} and ${b} was cut`)
  }
}

class Peer extends Emitter<TransportEvents> implements Transport {
  readonly selfId: string
  readonly network: Network
  readonly ends = new Map<string, End>()
  #handler: LinkHandler | undefined
  #early: { peerId: string; message: Uint8Array }[] = []
  #held: (() => void)[] | undefined
  #dead = false

  constructor(network: Network, selfId: string) {
    super()
    this.network = network
    this.selfId = selfId
  }

  want(peerIds: readonly string[]): void {
    if (this.#dead) return
    const wanted = new Set(peerIds)
    for (const end of [...this.ends.values()]) {
      if (!wanted.has(end.peerId)) end.leave()
    }
    for (const peerId of wanted) {
      const end = this.ends.get(peerId)
      if (peerId !== this.selfId && (!end || end.state === 'closed')) new End(this, peerId).enter()
    }
  }

  link(peerId: string): Link | undefined {
    const end = this.ends.get(peerId)
    return end?.state === 'open' ? end : undefined
  }

  statuses(): readonly LinkStatus[] {
    return [...this.ends.values()].map((end) => end.status())
  }

  receive(handler: LinkHandler): void {
    this.#handler = handler
    const early = this.#early
    this.#early = []
    for (const { peerId, message } of early) handler.message(peerId, message)
  }

  close(): void {
    this.want([])
    this.#dead = true
    this.network.peers.delete(this.selfId)
  }

  deliver(peerId: string, message: Uint8Array): void {
    if (this.#handler) this.#handler.message(peerId, message)
    else this.#early.push({ peerId, message })
  }

  drain(peerId: string): void {
    this.#handler?.drain(peerId)
  }

  /** Everything that happens to this peer goes through here: in order, not while frozen, never after death. */
  run(action: () => void): void {
    if (this.#dead) return
    if (this.#held) this.#held.push(action)
    else action()
  }

  freeze(): void {
    this.#held ??= []
  }

  thaw(): void {
    const held = this.#held ?? []
    this.#held = undefined
    // An action may freeze the peer again: the rest then waits, in order.
    for (const action of held) this.run(action)
  }

  die(): void {
    this.#dead = true
    this.network.peers.delete(this.selfId)
    for (const end of this.ends.values()) end.sever(`${this.selfId} vanished`)
  }
}

/** One side of a link: the queue towards the other side. */
class End implements Link {
  readonly peerId: string
  readonly maxMessageBytes: number
  state: LinkState = 'signalled'
  readonly #peer: Peer
  readonly #network: Network
  #other: End | undefined
  #error: LinkError | undefined
  /** False once cut or killed: messages vanish although this side may not know yet. */
  #carries = true
  #buffered = 0
  #over = false
  #queue: Uint8Array[] = []
  #wireFree = 0
  #lastArrival = 0

  constructor(peer: Peer, peerId: string) {
    this.#peer = peer
    this.#network = peer.network
    this.peerId = peerId
    this.maxMessageBytes = peer.network.maxMessageBytes
  }

  get bufferedBytes(): number {
    return this.#buffered
  }

  status(): LinkStatus {
    const { peerId, state } = this
    return { peerId, state, path: 'memory', ...(this.#error && { error: this.#error }) }
  }

  send(message: Uint8Array): boolean {
    checkMessageSize(this, message)
    if (this.state !== 'open') return false
    this.#buffered += message.byteLength
    if (this.#buffered > this.#network.highMark) this.#over = true
    const copy = message.slice()
    this.#peer.run(() => this.#transmit(copy))
    return !this.#over
  }

  #transmit(message: Uint8Array): void {
    const other = this.#other
    if (!this.#carries || !other) return
    const { latency, bandwidth, jitter } = this.#network.shapeOf(this.#peer.selfId, this.peerId)
    const now = this.#network.clock.now()
    this.#wireFree = Math.max(now, this.#wireFree) + message.byteLength / bandwidth
    this.#lastArrival = Math.max(
      this.#lastArrival,
      this.#wireFree + latency + jitter * this.#network.random(),
    )
    this.#queue.push(message)
    this.#network.later(this.#lastArrival - now, () => other.#peer.run(() => this.arrive()))
  }

  arrive(): void {
    const message = this.#queue.shift()
    const other = this.#other
    if (!message || !other || other.state !== 'open') return
    this.#network.onDeliver?.({ from: this.#peer.selfId, to: this.peerId, message })
    // The observer may have injected a fault.
    if (!this.#carries) return
    this.#buffered -= message.byteLength
    if (this.#over && this.#buffered <= this.#network.lowMark) {
      this.#over = false
      this.#network.later(0, () =>
        this.#peer.run(() => {
          if (this.state === 'open' && !this.#over) this.#peer.drain(this.peerId)
        }),
      )
    }
    other.#peer.deliver(this.#peer.selfId, message)
  }

  enter(): void {
    this.#peer.ends.set(this.peerId, this)
    this.#become('signalled')
    const other = this.#network.peers.get(this.peerId)?.ends.get(this.#peer.selfId)
    if (this.state !== 'signalled' || other?.state !== 'signalled' || other.#other) return
    this.#other = other
    other.#other = this
    this.#become('checking')
    other.#peer.run(() => other.#become('checking'))
    if (this.#network.cuts.has(pair(this.#peer.selfId, this.peerId))) {
      this.sever(`no path between ${this.#peer.selfId} and ${this.peerId}`)
      return
    }
    const { latency } = this.#network.shapeOf(this.#peer.selfId, this.peerId)
    this.#network.later(2 * latency, () => {
      if (!this.#carries || this.state === 'closed' || other.state === 'closed') return
      for (const end of [this, other]) end.#peer.run(() => end.#become('open'))
    })
  }

  /** Closed by this side, because the peer is not wanted any more. What has not arrived is lost. */
  leave(): void {
    this.#peer.ends.delete(this.peerId)
    if (this.state === 'closed') return
    const other = this.#other
    this.stop()
    other?.stop()
    this.#close(
      linkError('CHANNEL_CLOSED', this.peerId, 'closed by this side, which does not want it any more'),
    )
    const { latency } = this.#network.shapeOf(this.#peer.selfId, this.peerId)
    other?.notice(latency, 'CHANNEL_CLOSED', 'closed by the other side')
  }

  /** Nothing passes from now on; both sides notice later. */
  sever(reason: string): void {
    const code = this.state === 'open' ? 'CHANNEL_CLOSED' : 'ICE_FAILED'
    for (const end of [this, this.#other]) {
      end?.stop()
      end?.notice(this.#network.noticeSeconds, code, reason)
    }
  }

  stop(): void {
    this.#carries = false
    this.#queue = []
  }

  notice(seconds: number, code: LossCode, reason: string): void {
    this.#network.later(seconds, () =>
      this.#peer.run(() => {
        if (this.state !== 'closed') this.#close(linkError(code, this.peerId, reason))
      }),
    )
  }

  #close(error: LinkError): void {
    this.#error = error
    this.#buffered = 0
    this.#become('closed')
    this.#peer.emit('close', { peerId: this.peerId, error })
  }

  #become(state: LinkState): void {
    if (this.state === 'closed') return
    this.state = state
    this.#peer.emit('status', this.status())
    if (state === 'open') this.#peer.emit('open', this)
  }
}
