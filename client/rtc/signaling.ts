/** The connection to the signalling server, which comes back by itself. The only file that knows socket.io-client. */
import { io, type Socket } from 'socket.io-client'
import type { Clock } from '../../shared/base/clock.ts'
import { JoinError, ProtocolError, type RefusalCode } from '../../shared/base/errors.ts'
import type { RemovalCause, View } from '../../shared/membership/types.ts'
import type {
  ClientToServer,
  DoubtRequest,
  HostRequest,
  JoinReply,
  JoinRequest,
  LinkedRequest,
  LostRequest,
  ServerToClient,
} from '../../shared/signaling/events.ts'
import {
  joinReplySchema,
  noticeSchema,
  parseServerMessage,
  refusalSchema,
  removedSchema,
  signalSchema,
  viewSchema,
} from './serverMessages.ts'

export interface SignalingListener {
  /** There is a connection again, on which the server does not know this peer yet. */
  onConnect(): void
  onDisconnect(): void
  onView(view: View): void
  onSignal(from: string, data: unknown): void
  /** The server took the seat away and ends the connection. */
  onRemoved(reason: { cause: RemovalCause; code: RefusalCode; message: string }): void
  /** A request of this client was refused, or the server said something that is no part of the protocol. */
  onFault(error: JoinError | ProtocolError): void
  onDraining(message: string): void
}

export interface Signaling {
  /** Why there is no connection, in the library's words. */
  readonly lastError: string
  open(): void
  close(): void
  /** No answer ends the connection, and a new one is made; a faulty one is a fault. */
  join(request: JoinRequest, onReply: (reply: JoinReply) => void): void
  /** Resolves when the server has heard it, or after a second. */
  leave(): Promise<void>
  signal(to: string, data: unknown): void
  lost(request: LostRequest): void
  doubt(request: DoubtRequest): void
  linked(request: LinkedRequest): void
  host(request: HostRequest): void
}

/** Quick at first, since a room waits; spread, since a whole class comes back at once. */
const backoff = { reconnectionDelay: 200, reconnectionDelayMax: 2000, randomizationFactor: 0.5 }
const replyMs = 5000
const leaveMs = 1000
/** A server that ends the connection does so for a reason, which it may still have. */
const serverEndPauseSeconds = 0.3

export function createSignaling(url: URL, clock: Clock, listener: SignalingListener): Signaling {
  let lastError = 'no answer'
  let cancelReturn = () => {}
  const socket: Socket<ServerToClient, ClientToServer> = io(url.origin, {
    ...backoff,
    autoConnect: false,
    // Peers of one page have a connection each.
    forceNew: true,
    timeout: replyMs,
    transports: ['websocket', 'polling'],
    tryAllTransports: true,
  })
  const tolerate = (action: () => void) => {
    try {
      action()
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      listener.onFault(error)
    }
  }

  socket.on('connect', () => {
    cancelReturn()
    listener.onConnect()
  })
  socket.on('connect_error', (error) => {
    lastError = error.message
  })
  socket.on('disconnect', (reason) => {
    if (reason === 'io client disconnect') return
    lastError = reason
    listener.onDisconnect()
    // The library comes back by itself, but not when the server ended the connection: it does so when it stops.
    if (reason === 'io server disconnect')
      cancelReturn = clock.after(serverEndPauseSeconds, () => socket.connect())
  })
  socket.on('view', (data) => tolerate(() => listener.onView(parseServerMessage(viewSchema, 'view', data))))
  socket.on('signal', (data) =>
    tolerate(() => {
      const message = parseServerMessage(signalSchema, 'signal', data)
      listener.onSignal(message.from, message.data)
    }),
  )
  socket.on('removed', (data) =>
    tolerate(() => listener.onRemoved(parseServerMessage(removedSchema, 'removed', data))),
  )
  socket.on('refused', (data) =>
    tolerate(() => {
      const { code, message } = parseServerMessage(refusalSchema, 'refused', data)
      listener.onFault(new JoinError(code, message))
    }),
  )
  // The answer alone proves that this peer is alive.
  socket.on('alive', (reply) => {
    if (typeof reply === 'function') reply()
  })
  socket.on('draining', (data) =>
    tolerate(() => listener.onDraining(parseServerMessage(noticeSchema, 'draining', data).message)),
  )

  return {
    get lastError() {
      return lastError
    },
    open() {
      socket.connect()
    },
    close() {
      cancelReturn()
      socket.disconnect()
    },
    join(request, onReply) {
      const connection = socket.id
      socket.timeout(replyMs).emit('join', request, (error: Error | null, raw: unknown) => {
        if (socket.id !== connection) return
        if (!error) tolerate(() => onReply(parseServerMessage(joinReplySchema, 'reply', raw)))
        else {
          lastError = error.message
          socket.disconnect().connect()
        }
      })
    },
    async leave() {
      if (!socket.connected) return
      await new Promise<void>((resolve) => {
        socket.timeout(leaveMs).emit('leave', () => resolve())
      })
    },
    signal: (to, data) => void socket.emit('signal', { to, data }),
    lost: (request) => void socket.emit('lost', request),
    doubt: (request) => void socket.emit('doubt', request),
    linked: (request) => void socket.emit('linked', request),
    host: (request) => void socket.emit('host', request),
  }
}
