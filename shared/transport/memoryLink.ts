import { LinkError } from '../base/errors.ts'
import type { Network } from './memory.ts'
import type { MemoryPeer } from './memoryPeer.ts'
import { checkMessageSize } from './messageSize.ts'
import type { Link, LinkState, LinkStatus } from './types.ts'

type LossCode = 'CHANNEL_CLOSED' | 'ICE_FAILED'

const linkError = (code: LossCode, peerId: string, reason: string) =>
  new LinkError(code, `Link to ${peerId}: ${reason}.`, { peerId })

/** One side of a link: the queue towards the other side. */
export class MemoryLink implements Link {
  readonly peerId: string
  readonly maxMessageBytes: number
  state: LinkState = 'signalled'
  readonly #peer: MemoryPeer
  readonly #network: Network
  #other: MemoryLink | undefined
  #error: LinkError | undefined
  /** False once cut or killed: messages vanish although this side may not know yet. */
  #carries = true
  #buffered = 0
  #over = false
  #queue: Uint8Array[] = []
  #wireFree = 0
  #lastArrival = 0

  constructor(peer: MemoryPeer, peerId: string) {
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
    if (this.#network.isCut(this.#peer.selfId, this.peerId)) {
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
