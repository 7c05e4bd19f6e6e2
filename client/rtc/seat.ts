/** A seat in a room at the signalling server: taken, kept over losses of the connection, given up. */
import type { Clock } from '../../shared/base/clock.ts'
import { createDeferred } from '../../shared/base/deferred.ts'
import { Emitter } from '../../shared/base/emitter.ts'
import { JoinError, ProtocolError } from '../../shared/base/errors.ts'
import type { Membership, RemovalCause, View } from '../../shared/membership/types.ts'
import type { HostRequest, IceServer, JoinReply, JoinRequest } from '../../shared/signaling/events.ts'
import { protocolVersion } from '../../shared/signaling/limits.ts'
import { Outbox } from './outbox.ts'
import type { LinkOutcome } from './pairing.ts'
import type { SeatStore } from './seatStore.ts'
import { createSignaling, type Signaling } from './signaling.ts'

export interface SeatConfig {
  readonly url: URL
  readonly room?: string | undefined
  readonly create: boolean
  readonly name: string
  readonly kind: string
  /** Gives the seat back after a reload of the page. */
  readonly seats?: SeatStore | undefined
  readonly clock: Clock
  /** How long the server may take to give the first answer. After that it may take for ever. */
  readonly patienceSeconds: number
  readonly signal?: AbortSignal | undefined
}

/** `since`: seconds on the clock. `gone`: this peer has no seat any more, and why; without an error it has left. */
export type ServerState =
  | { readonly name: 'connected' }
  | { readonly name: 'reconnecting'; readonly since: number }
  | { readonly name: 'gone'; readonly error?: JoinError; readonly cause?: RemovalCause }

export interface SeatEvents {
  state: ServerState
  /** A request of this peer was refused, or the server or a peer said something that is no part of the protocol. */
  refused: JoinError | ProtocolError
  /** The server is about to restart; the group goes on. */
  draining: string
}

/** A refusal that may pass (too many joins at once, a server that is stopping) is asked again for so long. */
const insistSeconds = 30
const insistPauseSeconds = 2
/** Signals that come before somebody listens: those of a moment. */
const unreadSignals = 256

type Welcome = Extract<JoinReply, { ok: true }>
type Refusal = Extract<JoinReply, { ok: false }>

/**
 * @throws {JoinError} the server refused, or did not answer in time (SIGNAL_UNREACHABLE).
 * @throws the reason of `signal` when it is aborted.
 */
export async function takeSeat(config: SeatConfig): Promise<Seat> {
  const seat = new Seat(config)
  await seat.open()
  return seat
}

export class Seat extends Emitter<SeatEvents> implements Membership {
  readonly #config: SeatConfig
  readonly #signaling: Signaling
  readonly #outbox: Outbox
  readonly #first = createDeferred<void>()
  readonly #views = new Emitter<{ view: View }>()
  #welcome: Welcome | undefined
  #view: View | undefined
  #state: ServerState
  #onSignal: ((from: string, data: unknown) => void) | undefined
  readonly #unread: { from: string; data: unknown }[] = []
  #cancelRetry = () => {}

  constructor(config: SeatConfig) {
    super()
    this.#config = config
    this.#state = { name: 'reconnecting', since: config.clock.now() }
    this.#signaling = createSignaling(config.url, config.clock, {
      onConnect: () => this.#ask(),
      onDisconnect: () => {
        this.#outbox.close()
        if (this.#state.name !== 'gone')
          this.#become({ name: 'reconnecting', since: this.#config.clock.now() })
      },
      onView: (view) => this.#show(view),
      onSignal: (from, data) => {
        if (this.#onSignal) this.#tolerate(from, data, this.#onSignal)
        else if (this.#unread.length < unreadSignals) this.#unread.push({ from, data })
      },
      onRemoved: ({ cause, code, message }) => {
        // A newer incarnation needs the token, and so does who was only lost for a while and comes back.
        if (cause === 'kicked' || cause === 'closed') this.#forget()
        this.#end({ name: 'gone', error: new JoinError(code, message), cause })
      },
      onFault: (error) => {
        if (!this.#welcome) this.#first.reject(error)
        this.emit('refused', error)
      },
      onDraining: (message) => this.emit('draining', message),
    })
    this.#outbox = new Outbox(this.#signaling, () => this.#view)
  }

  get selfId(): string {
    return this.#place.peerId
  }
  get room(): string {
    return this.#place.room
  }
  /** As the server gave it. */
  get name(): string {
    return this.#place.name
  }
  /** This peer made the room and may send members away, lock and close it. */
  get isHost(): boolean {
    return this.#place.host
  }
  get state(): ServerState {
    return this.#state
  }

  /** The server's own STUN responder, reached as the server was, and the servers of its operator. */
  get iceServers(): readonly IceServer[] {
    const { stunPort, iceServers } = this.#place
    const own = stunPort === undefined ? [] : [{ urls: `stun:${this.#config.url.hostname}:${stunPort}` }]
    return [...own, ...iceServers]
  }

  get #place(): Welcome {
    if (!this.#welcome) throw new JoinError('SIGNAL_UNREACHABLE', 'The server has not given a seat yet.')
    return this.#welcome
  }

  async open(): Promise<void> {
    const { url, clock, patienceSeconds, signal } = this.#config
    signal?.throwIfAborted()
    const onAbort = () => this.#first.reject(signal?.reason)
    signal?.addEventListener('abort', onAbort)
    const cancel = clock.after(patienceSeconds, () => {
      const message = `No Papilio server answered at ${url.origin} within ${patienceSeconds} s (${this.#signaling.lastError}). Check the address, and that the server is running.`
      this.#first.reject(new JoinError('SIGNAL_UNREACHABLE', message, { retryable: true }))
    })
    this.#signaling.open()
    try {
      await this.#first.promise
    } catch (error) {
      this.close()
      throw error
    } finally {
      cancel()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  view(): View | undefined {
    return this.#view
  }

  onView(listener: (view: View) => void): () => void {
    return this.#views.on('view', listener)
  }

  /** Where signals of other peers go; those that came earlier are delivered first. */
  receiveSignals(handler: (from: string, data: unknown) => void): void {
    this.#onSignal = handler
    for (const { from, data } of this.#unread.splice(0)) this.#tolerate(from, data, handler)
  }

  signal(to: string, data: unknown): void {
    this.#outbox.signal(to, data)
  }

  /** For the operator's metrics; it also ends the complaints of both about their link. */
  reportLink(peerId: string, path: LinkOutcome): void {
    this.#outbox.linked(peerId, path)
  }

  reportLost(peerId: string, reason: string, wasOpen: boolean): void {
    this.#outbox.lost(peerId, reason, wasOpen)
  }

  doubt(peerId: string): void {
    this.#outbox.doubt(peerId)
  }

  /** Only the host may; others are refused. */
  host(request: HostRequest): void {
    if (this.#outbox.isOpen) this.#signaling.host(request)
  }

  async leave(): Promise<void> {
    if (this.#outbox.isOpen) await this.#signaling.leave()
    this.#forget()
    this.#end({ name: 'gone' })
  }

  /** Ends the connection without giving up the seat: a page that is reloaded takes it again. */
  close(): void {
    this.#cancelRetry()
    this.#outbox.close()
    this.#signaling.close()
  }

  #ask(): void {
    this.#cancelRetry()
    this.#signaling.join(this.#request(), (reply) => {
      if (this.#state.name === 'gone') return
      if (reply.ok) this.#welcomed(reply)
      else this.#refused(reply)
    })
  }

  #request(): JoinRequest {
    const { room, create, name, kind, seats } = this.#config
    const base = { protocol: protocolVersion, name, kind }
    if (!this.#welcome || !this.#view) {
      const token = room === undefined ? undefined : seats?.load(room)
      return { ...base, create, ...(room !== undefined && { room }), ...(token !== undefined && { token }) }
    }
    const { peerId, token } = this.#welcome
    const { epoch, members } = this.#view
    const rank = members.findIndex((member) => member.peerId === peerId)
    return {
      ...base,
      name: this.#welcome.name,
      room: this.#welcome.room,
      token,
      peerId,
      ...(rank >= 0 && { known: { epoch, rank, members: [...members] } }),
    }
  }

  #welcomed(welcome: Welcome): void {
    if (this.#welcome && this.#welcome.peerId !== welcome.peerId) {
      // Only a new incarnation was let in, of which the group knows nothing.
      void this.#signaling.leave()
      this.#end({ name: 'gone', cause: 'lost', error: new JoinError('ROOM_CLOSED', 'Your seat was lost.') })
      return
    }
    this.#welcome = welcome
    this.#config.seats?.save(welcome.room, welcome.token)
    this.#become({ name: 'connected' })
    this.#show(welcome.view)
    this.#outbox.open()
    this.#first.resolve()
  }

  #refused({ code, message }: Refusal): void {
    const error = new JoinError(code, message, { retryable: code === 'RATE_LIMITED' })
    if (!this.#welcome) {
      this.#first.reject(error)
      return
    }
    const { clock } = this.#config
    const state = this.#state
    const mayPass = code === 'RATE_LIMITED' || code === 'ROOM_CLOSED'
    if (mayPass && state.name === 'reconnecting' && clock.now() - state.since < insistSeconds) {
      this.#cancelRetry = clock.after(insistPauseSeconds, () => this.#ask())
      return
    }
    this.#end({ name: 'gone', error })
  }

  #show(view: View): void {
    const before = this.#view
    if (this.#state.name === 'gone' || (before && view.epoch < before.epoch)) return
    // Of the same epoch, a view is news only for its blocked pairs.
    const isKnown =
      before?.epoch === view.epoch && JSON.stringify(before.blocked) === JSON.stringify(view.blocked)
    if (isKnown) return
    this.#view = view
    this.#views.emit('view', view)
  }

  /** What a foreign peer says must not break anything here. */
  #tolerate(from: string, data: unknown, handler: (from: string, data: unknown) => void): void {
    try {
      handler(from, data)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.emit('refused', error)
    }
  }

  #forget(): void {
    if (this.#welcome) this.#config.seats?.forget(this.#welcome.room)
  }

  /** The group learns of the end as of any other change: by a view, in which this peer is missing. */
  #end(state: Extract<ServerState, { name: 'gone' }>): void {
    if (this.#state.name === 'gone') return
    this.close()
    this.#become(state)
    const view = this.#view
    if (!view) return
    this.#view = { ...view, members: view.members.filter(({ peerId }) => peerId !== this.#welcome?.peerId) }
    this.#views.emit('view', this.#view)
  }

  #become(state: ServerState): void {
    this.#state = state
    this.emit('state', state)
  }
}
