/** The socket.io edge: lets clients in, hands their events to the handlers, and refuses what breaks a rule. */
import type { Server as HttpServer } from 'node:http'
import { Server } from 'socket.io'
import type { Clock } from '../shared/base/clock.ts'
import { limits } from '../shared/signaling/limits.ts'
import { createBudgets } from './budget.ts'
import { freshIds } from './codes.ts'
import type { ServerConfig } from './config.ts'
import { createHandlers } from './handlers.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { observer } from './observer.ts'
import { createPerformer } from './performing.ts'
import { Refusal, refuse, replyIn } from './refusing.ts'
import { createRooms, type Rooms } from './rooms.ts'
import type { ClientSocket, SocketServer } from './socketTypes.ts'

export interface SignalingParts {
  readonly http: HttpServer
  readonly config: ServerConfig
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** The port of the STUN responder, when it runs. */
  stunPort(): number | undefined
  /** The server is about to stop: no new rooms. */
  isDraining(): boolean
}

export interface Signaling {
  readonly rooms: Rooms
  readonly connections: number
  /** Tells every client that the server goes down. */
  announceEnd(): void
  close(): Promise<void>
}

export function createSignaling(parts: SignalingParts): Signaling {
  const { config, clock, log, metrics } = parts
  const budgets = createBudgets(config)
  const anyOrigin = config.origins.includes('*')
  const io: SocketServer = new Server(parts.http, {
    serveClient: false,
    maxHttpBufferSize: limits.eventBytes,
    // A connection that died without a word is found within 15 s; a page that computes for 10 s is not taken for dead.
    pingInterval: 5_000,
    pingTimeout: 10_000,
    cors: { origin: anyOrigin ? '*' : config.origins },
    allowRequest: ({ headers }, decide) => decide(null, admits(headers.origin, headers.host)),
  })

  /** A page of this server is always welcome, a page of another origin when the operator named it. */
  function admits(origin: string | undefined, host: string | undefined): boolean {
    if (io.engine.clientsCount >= config.maxConnections) return false
    if (anyOrigin || origin === undefined || config.origins.includes(origin)) return true
    return URL.canParse(origin) && new URL(origin).host === host
  }

  const socketOf = (connection: string) => io.sockets.sockets.get(connection)
  const rooms = createRooms({
    settings: {
      maxMembers: config.maxPeersPerRoom,
      nameLength: limits.nameLength,
      graceSeconds: config.graceSeconds,
      accusedSeconds: config.accusedSeconds,
      emptySeconds: config.emptySeconds,
    },
    clock,
    perform: createPerformer({
      ...parts,
      io,
      socketOf,
      onVerdict: (code, connection, isAlive) =>
        rooms.dispatch(code, { type: isAlive ? 'answered' : 'silent', connection }),
    }),
    observe: observer(log, metrics),
  })
  const secret = config.secret ?? freshIds().token
  const handlers = createHandlers({ ...parts, secret, rooms, budgets, socketOf })

  /** Nothing that a client sends may end the process or leave a join without an answer. */
  async function receive(socket: ClientSocket, event: string, args: readonly unknown[]): Promise<void> {
    const reply = event === 'join' ? replyIn(args) : undefined
    try {
      const { ok, isFirst } = await budgets.event(socket.id, Buffer.byteLength(JSON.stringify(args)))
      if (!ok && !isFirst && !reply) return
      if (!ok) throw new Refusal('RATE_LIMITED', 'Too many messages in a short time; the server drops some.')
      const handle = handlers.get(event)
      if (!handle) throw new Refusal('PROTOCOL', `There is no event ${event.slice(0, 40)}.`)
      await handle(socket, args)
    } catch (error) {
      const isForeign = error instanceof Refusal
      if (!isForeign) log.error({ event, err: error }, 'handler failed')
      refuse(
        socket,
        metrics,
        isForeign ? error : new Refusal('PROTOCOL', `${event}: the server failed`),
        reply,
      )
    }
  }

  io.on('connection', (socket) => {
    socket.onAny((event: string, ...args: unknown[]) => void receive(socket, event, args))
    socket.on('disconnect', () => {
      const { place } = socket.data
      if (place) rooms.dispatch(place.code, { type: 'disconnect', connection: socket.id })
    })
  })

  return {
    rooms,
    get connections() {
      return io.engine.clientsCount
    },
    announceEnd() {
      io.emit('draining', {
        message: 'The server restarts. Your group goes on; nobody new can join until it is back.',
      })
    },
    async close() {
      await io.close()
      rooms.close()
    },
  }
}
