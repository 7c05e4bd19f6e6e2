/**
 * The connection to the signalling server: a seat in a room, the views of the room, and the way for signals. It comes
 * back by itself for as long as the seat can be had. The only file that knows socket.io-client.
 */
import { io, type Socket } from 'socket.io-client'
import type { Clock } from '../../shared/base/clock.ts'
import { createDeferred } from '../../shared/base/deferred.ts'
import { Emitter } from '../../shared/base/emitter.ts'
import { JoinError, ProtocolError } from '../../shared/base/errors.ts'
import type { Membership, RemovalCause, View } from '../../shared/membership/types.ts'
import type {
  ClientToServer,
  HostRequest,
  IceServer,
  JoinReply,
  JoinRequest,
  ServerToClient,
} from '../../shared/signaling/events.ts'
import { limits, protocolVersion } from '../../shared/signaling/limits.ts'
import type { LinkOutcome } from './pairing.ts'
import type { SeatStore } from './seats.ts'
import {
  joinReplySchema,
  noticeSchema,
  parseServerMessage,
  refusalSchema,
  removedSchema,
  signalSchema,
  viewSchema,
} from './serverMessages.ts'

export interface SignalingConfig {
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

export interface SignalingEvents {
  state: ServerState
  /** The server refused a request of this peer, or said something that is no part of the protocol. */
  refused: JoinError | ProtocolError
  /** The server is about to restart; the group goes on. */
  draining: string
}

/** Quick at first, since a room waits; spread, since a whole class comes back at once. */
const backoff = { reconnectionDelay: 200, reconnectionDelayMax: 2000, randomizationFactor: 0.5 }
const replyMs = 5000
const leaveMs = 1000
/** A refusal that may pass (too many joins at once, a server that is stopping) is asked again for so long. */
const insistSeconds = 30
const insistPauseSeconds = 2
/** A server that ends the connection does so for a reason, which it may still have. */
const serverEndPauseSeconds = 0.3
/** Signals that wait for the server to come back; more are of no use, since attempts at a connection begin anew. */
const waitingSignals = 256

type Welcome = Extract<JoinReply, { ok: true }>
type Refusal = Extract<JoinReply, { ok: false }>

/** Resolves with a seat. @throws {JoinError} when the server refuses, or does not answer in time. */
export async function connectSignaling(config: SignalingConfig): Promise<Signaling> {
  const signaling = new Signaling(config)
  await signaling.open()
  return signaling
}

export class Signaling extends Emitter<SignalingEvents> implements Membership {
  readonly #config: SignalingConfig
  readonly #socket: Socket<ServerToClient, ClientToServer>
  readonly #first = createDeferred<void>()
  readonly #views = new Emitter<{ view: View }>()
  #lastError = 'no answer'
  #welcome: Welcome | undefined
  #view: View | undefined
  #state: ServerState
  /** This connection has the seat. */
  #isSeated = false
  #onSignal: ((from: string, data: unknown) => void) | undefined
  #unread: { from: string; data: unknown }[] = []
  #unsent: { to: string; data: unknown }[] = []
  /** Losses that the server has not been told yet: peerId and reason. */
  readonly #unreported = new Map<string, string>()
  #cancelRetry: (() => void) | undefined

  constructor(config: SignalingConfig) {
    super()
    this.#config = config
    this.#state = { name: 'reconnecting', since: config.clock.now() }
    this.#socket = io(config.url.origin, {
      ...backoff,
      autoConnect: false,
      // Peers of one page have a connection each.
      forceNew: true,
      timeout: replyMs,
      transports: ['websocket', 'polling'],
      tryAllTransports: true,
    })
    this.#listen()
  }

  get selfId(): string {
    return this.#seat.peerId
  }
  get room(): string {
    return this.#seat.room
  }
  /** As the server gave it. */
  get name(): string {
    return this.#seat.name
  }
  /** This peer made the room and may send members away, lock and close it. */
  get isHost(): boolean {
    return this.#seat.host
  }
  get state(): ServerState {
    return this.#state
  }

  /** The server's own STUN responder, reached as the server was, and the servers of its operator. */
  get iceServers(): readonly IceServer[] {
    const { stunPort, iceServers } = this.#seat
    const own = stunPort === undefined ? [] : [{ urls: `stun:${this.#config.url.hostname}:${stunPort}` }]
    return [...own, ...iceServers]
  }

  get #seat(): Welcome {
    if (!this.#welcome) throw new JoinError('SIGNAL_UNREACHABLE', 'The server has not given a seat yet.')
    return this.#welcome
  }

  async open(): Promise<void> {
    const { url, clock, patienceSeconds, signal } = this.#config
    signal?.throwIfAborted()
    const onAbort = () => this.#first.reject(signal?.reason)
    signal?.addEventListener('abort', onAbort)
    const cancel = clock.after(patienceSeconds, () => {
      const message = `No Papilio server answered at ${url.origin} within ${patienceSeconds} s (${this.#lastError}). Check the address, and that the server is running.`
      this.#first.reject(new JoinError('SIGNAL_UNREACHABLE', message, { retryable: true }))
    })
    this.#socket.connect()
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
    for (const { from, data } of this.#unread.splice(0)) handler(from, data)
  }

  signal(to: string, data: unknown): void {
    if (this.#isSeated) {
      this.#socket.emit('signal', { to, data })
      return
    }
    this.#unsent.push({ to, data })
    if (this.#unsent.length > waitingSignals) this.#unsent.shift()
  }

  /** For the operator's metrics; it also takes back this side's complaint about the peer. */
  reportLink(peerId: string, path: LinkOutcome): void {
    this.#unreported.delete(peerId)
    if (this.#isSeated) this.#socket.emit('linked', { peerId, path })
  }

  reportLost(peerId: string, reason: string): void {
    this.#unreported.set(peerId, reason.slice(0, limits.reasonLength))
    this.#flush()
  }

  /** Only the host may; others are refused. */
  host(request: HostRequest): void {
    if (this.#isSeated) this.#socket.emit('host', request)
  }

  async leave(): Promise<void> {
    if (this.#isSeated) {
      await new Promise<void>((resolve) => {
        this.#socket.timeout(leaveMs).emit('leave', () => resolve())
      })
    }
    if (this.#welcome) this.#config.seats?.forget(this.#welcome.room)
    this.#end({ name: 'gone' })
  }

  /** Ends the connection without giving up the seat: a page that is reloaded takes it again. */
  close(): void {
    this.#cancelRetry?.()
    this.#isSeated = false
    this.#socket.disconnect()
  }

  /** Runs what foreign input may break; its fault is reported, not thrown. */
  tolerate(action: () => void): void {
    try {
      action()
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.emit('refused', error)
    }
  }

  #listen(): void {
    const socket = this.#socket
    socket.on('connect', () => {
      this.#cancelRetry?.()
      this.#takeSeat()
    })
    socket.on('connect_error', (error) => {
      this.#lastError = error.message
    })
    socket.on('disconnect', (reason) => {
      this.#isSeated = false
      if (this.#state.name === 'gone' || reason === 'io client disconnect') return
      this.#become({ name: 'reconnecting', since: this.#config.clock.now() })
      // The library comes back by itself, but not when the server ended the connection: it does so when it stops.
      if (reason === 'io server disconnect') this.#later(serverEndPauseSeconds, () => socket.connect())
    })
    socket.on('view', (data) => this.tolerate(() => this.#show(parseServerMessage(viewSchema, 'view', data))))
    socket.on('signal', (message) =>
      this.tolerate(() => {
        const { from, data } = parseServerMessage(signalSchema, 'signal', message)
        if (this.#onSignal) this.#onSignal(from, data)
        else if (this.#unread.length < waitingSignals) this.#unread.push({ from, data })
      }),
    )
    socket.on('removed', (reason) =>
      this.tolerate(() => {
        const { cause, code, message } = parseServerMessage(removedSchema, 'removed', reason)
        if (this.#welcome && cause !== 'replaced') this.#config.seats?.forget(this.#welcome.room)
        this.#end({ name: 'gone', error: new JoinError(code, message), cause })
      }),
    )
    socket.on('refused', (refusal) =>
      this.tolerate(() => {
        const { code, message } = parseServerMessage(refusalSchema, 'refused', refusal)
        this.emit('refused', new JoinError(code, message))
      }),
    )
    // The answer alone proves that this peer is alive.
    socket.on('alive', (reply) => {
      if (typeof reply === 'function') reply()
    })
    socket.on('draining', (notice) =>
      this.tolerate(() =>
        this.emit('draining', parseServerMessage(noticeSchema, 'draining', notice).message),
      ),
    )
  }

  #takeSeat(): void {
    const socket = this.#socket
    socket.timeout(replyMs).emit('join', this.#request(), (error: Error | null, raw: unknown) => {
      if (this.#state.name === 'gone') return
      if (error) {
        this.#lastError = error.message
        if (socket.connected) socket.disconnect().connect()
        return
      }
      try {
        const reply = parseServerMessage(joinReplySchema, 'reply', raw)
        if (reply.ok) this.#welcomed(reply)
        else this.#refused(reply)
      } catch (fault) {
        const told = fault instanceof ProtocolError ? fault : new ProtocolError(String(fault))
        if (this.#welcome) this.emit('refused', told)
        else this.#first.reject(told)
      }
    })
  }

  #request(): JoinRequest {
    const { room, create, name, kind, seats } = this.#config
    const welcome = this.#welcome
    const view = this.#view
    const base = { protocol: protocolVersion, name, kind }
    if (!welcome || !view) {
      const token = room === undefined ? undefined : seats?.load(room)
      return { ...base, create, ...(room !== undefined && { room }), ...(token !== undefined && { token }) }
    }
    const { epoch, members } = view
    const rank = members.findIndex(({ peerId }) => peerId === welcome.peerId)
    return {
      ...base,
      name: welcome.name,
      room: welcome.room,
      token: welcome.token,
      peerId: welcome.peerId,
      ...(rank >= 0 && { known: { epoch, rank, members: [...members] } }),
    }
  }

  #welcomed(welcome: Welcome): void {
    if (this.#welcome && this.#welcome.peerId !== welcome.peerId) {
      // Only a new incarnation was let in: the group that knew this one has ended.
      this.#socket.emit('leave', () => {})
      this.#end({ name: 'gone', cause: 'lost', error: new JoinError('ROOM_CLOSED', 'Your seat was lost.') })
      return
    }
    this.#welcome = welcome
    this.#isSeated = true
    this.#config.seats?.save(welcome.room, welcome.token)
    this.#become({ name: 'connected' })
    this.#show(welcome.view)
    this.#flush()
    this.#first.resolve()
  }

  #refused({ code, message }: Refusal): void {
    const mayPass = code === 'RATE_LIMITED' || code === 'ROOM_CLOSED'
    const error = new JoinError(code, message, { retryable: code === 'RATE_LIMITED' })
    if (!this.#welcome) {
      this.#first.reject(error)
      return
    }
    const { clock } = this.#config
    const state = this.#state
    if (mayPass && state.name === 'reconnecting' && clock.now() - state.since < insistSeconds) {
      this.#later(insistPauseSeconds, () => {
        if (this.#socket.connected) this.#takeSeat()
      })
      return
    }
    this.#end({ name: 'gone', error })
  }

  #later(seconds: number, action: () => void): void {
    this.#cancelRetry?.()
    this.#cancelRetry = this.#config.clock.after(seconds, action)
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

  #flush(): void {
    if (!this.#isSeated) return
    for (const { to, data } of this.#unsent.splice(0)) this.#socket.emit('signal', { to, data })
    const epoch = this.#view?.epoch ?? 0
    for (const [peerId, reason] of this.#unreported) {
      if (this.#view?.members.some((member) => member.peerId === peerId)) {
        this.#socket.emit('lost', { peerId, epoch, reason })
      }
    }
    this.#unreported.clear()
  }

  /** The group learns of the end as of any other change: by a view, in which this peer is missing. */
  #end(state: Extract<ServerState, { name: 'gone' }>): void {
    if (this.#state.name === 'gone') return
    this.close()
    this.#become(state)
    const view = this.#view
    const peerId = this.#welcome?.peerId
    if (!view) return
    this.#view = { ...view, members: view.members.filter((member) => member.peerId !== peerId) }
    this.#views.emit('view', this.#view)
  }

  #become(state: ServerState): void {
    this.#state = state
    this.emit('state', state)
  }
}
