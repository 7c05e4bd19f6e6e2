/** What this peer has to say to the server while the server is away. */
import type { View } from '../../shared/membership/types.ts'
import type { LostRequest } from '../../shared/signaling/events.ts'
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
  /** Losses and links that the server has not been told of yet, by peerId. */
  readonly #losses = new Map<string, LostRequest>()
  readonly #links = new Map<string, LinkOutcome>()

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

  /** Of the epoch in which it happened: while the server is away, the others may go on to another. */
  lost(peerId: string, reason: string, wasOpen: boolean): void {
    const epoch = this.#view()?.epoch
    if (epoch === undefined) return
    this.#links.delete(peerId)
    const earlier = this.#losses.get(peerId)
    // A link that was open counts, whatever was tried after it.
    if (!earlier || wasOpen)
      this.#losses.set(peerId, { peerId, epoch, reason: reason.slice(0, limits.reasonLength), wasOpen })
    this.#flush()
  }

  /** Who stays silent is doubted again: this does not wait for the server. */
  doubt(peerId: string): void {
    const view = this.#view()
    if (this.#isOpen && view) this.#signaling.doubt({ peerId, epoch: view.epoch })
  }

  /** A loss before it is told all the same: what the lost link carried is gone. */
  linked(peerId: string, path: LinkOutcome): void {
    this.#links.set(peerId, path)
    this.#flush()
  }

  #flush(): void {
    const view = this.#view()
    if (!this.#isOpen || !view) return
    for (const { to, data } of this.#signals.splice(0)) this.#signaling.signal(to, data)
    const isMember = (peerId: string) => view.members.some((member) => member.peerId === peerId)
    for (const loss of this.#losses.values()) if (isMember(loss.peerId)) this.#signaling.lost(loss)
    for (const [peerId, path] of this.#links) if (isMember(peerId)) this.#signaling.linked({ peerId, path })
    this.#losses.clear()
    this.#links.clear()
  }
}
