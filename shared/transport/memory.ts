/**
 * A network inside one process, for tests, teaching and the fault simulator. Every link has a delay, a bandwidth and
 * a bounded queue; peers can be frozen or killed and links cut. Runs of equal seeds and calls are equal.
 */
import { type Clock, realClock } from '../base/clock.ts'
import { ArgumentError } from '../base/errors.ts'
import { createPrng } from '../base/prng.ts'
import { MemoryPeer } from './memoryPeer.ts'
import type { Transport } from './types.ts'

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
    shape: (a, b, shape) => network.shape(a, b, shape),
    cut: (a, b) => network.cut(a, b),
    mend: (a, b) => network.mend(a, b),
    kill: (peerId) => network.peers.get(peerId)?.die(),
    freeze: (peerId) => network.peers.get(peerId)?.freeze(),
    thaw: (peerId) => network.peers.get(peerId)?.thaw(),
  }
}

/** The key of a link: the same for both directions. */
const pair = (a: string, b: string) => (a < b ? `${a} ${b}` : `${b} ${a}`)

/** What peers and links of one network share. */
export class Network {
  readonly clock: Clock
  readonly highMark: number
  readonly lowMark: number
  readonly maxMessageBytes: number
  readonly noticeSeconds: number
  readonly onDeliver: MemoryNetworkOptions['onDeliver']
  readonly peers = new Map<string, MemoryPeer>()
  readonly #shapes = new Map<string, LinkShape>()
  readonly #cuts = new Set<string>()
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

  join(peerId: string): MemoryPeer {
    if (this.peers.has(peerId)) {
      throw new ArgumentError('peerId', `The memory network already has a peer "${peerId}"; take another id.`)
    }
    const peer = new MemoryPeer(this, peerId)
    this.peers.set(peerId, peer)
    return peer
  }

  shape(a: string, b: string, shape: Partial<LinkShape>): void {
    this.#shapes.set(pair(a, b), { ...this.shapeOf(a, b), ...shape })
  }

  shapeOf(a: string, b: string): LinkShape {
    return this.#shapes.get(pair(a, b)) ?? this.#shape
  }

  later(seconds: number, action: () => void): void {
    if (seconds <= 0) queueMicrotask(action)
    else this.clock.after(seconds, action)
  }

  cut(a: string, b: string): void {
    this.#cuts.add(pair(a, b))
    this.peers.get(a)?.ends.get(b)?.sever(`the link between ${a} and ${b} was cut`)
  }

  mend(a: string, b: string): void {
    this.#cuts.delete(pair(a, b))
  }

  isCut(a: string, b: string): boolean {
    return this.#cuts.has(pair(a, b))
  }
}
