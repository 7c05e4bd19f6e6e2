/** What this peer has to say to the server while the server is away. */
import type { View } from '../../shared/membership/types.ts'
import { limits } from '../../shared/signaling/limits.ts'
import type { LinkOutcome } from './pairing.ts'
import type { Signaling } from './signaling.ts'

/** Signals that wait; more are of no use, since attempts at a connection begin anew. */
const waitingSignals = 256

export class Outbox {
  readonly #signaling: Signaling
  readonly #view: () => View | undefined
  #isOpen = false
  readonly #signals: { to: string; data: unknown }[] = []
  /** Losses that the server has not been told yet: peerId and reason. */
  readonly #losses = new Map<string, string>()

  constructor(signaling: Signaling, view: () => View | undefined) {
    this.#signaling = signaling
    this.#view = view
  }

  /** The server knows this peer on the connection that there is. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  open(): void {
    this.#isOpen = true
    this.#flush()
  }

  close(): void {
    this.#isOpen = false
  }

  signal(to: string, data: unknown): void {
    this.#signals.push({ to, data })
    if (this.#signals.length > waitingSignals) this.#signals.shift()
    this.#flush()
  }

  lost(peerId: string, reason: string): void {
    this.#losses.set(peerId, reason.slice(0, limits.reasonLength))
    this.#flush()
  }

  /** Takes a loss back; what has become of a link is not news for long, so it does not wait. */
  linked(peerId: string, path: LinkOutcome): void {
    this.#losses.delete(peerId)
    if (this.#isOpen) this.#signaling.linked({ peerId, path })
  }

  #flush(): void {
    const view = this.#view()
    if (!this.#isOpen || !view) return
    for (const { to, data } of this.#signals.splice(0)) this.#signaling.signal(to, data)
    for (const [peerId, reason] of this.#losses)
      if (view.members.some((member) => member.peerId === peerId))
        this.#signaling.lost({ peerId, epoch: view.epoch, reason })
    this.#losses.clear()
  }
}
