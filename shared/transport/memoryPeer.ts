import { Emitter } from '../base/emitter.ts'
import type { Network } from './memory.ts'
import { MemoryLink } from './memoryLink.ts'
import type { Link, LinkHandler, LinkStatus, Transport, TransportEvents } from './types.ts'

/** A peer of the memory network: one transport. */
export class MemoryPeer extends Emitter<TransportEvents> implements Transport {
  readonly selfId: string
  readonly network: Network
  readonly ends = new Map<string, MemoryLink>()
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
      if (peerId !== this.selfId && (!end || end.state === 'closed')) new MemoryLink(this, peerId).enter()
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
