/** The socket.io edge: parses what clients say, asks the rooms, performs what they decide. */
import type { Server as HttpServer } from 'node:http'
import { Server } from 'socket.io'
import type { Clock } from '../shared/base/clock.ts'
import {
  type ClientToServer,
  hostSchema,
  type JoinReply,
  linkedSchema,
  lostSchema,
  ranSchema,
  signalSchema,
} from '../shared/signaling/events.ts'
import { limits } from '../shared/signaling/limits.ts'
import { createBudgets } from './budget.ts'
import { isAlive } from './challenge.ts'
import { freshIds } from './codes.ts'
import type { ServerConfig } from './config.ts'
import { iceServersFor } from './ice.ts'
import { handleJoin } from './joining.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { observer } from './observer.ts'
import { parse, Refusal, refuse } from './refusing.ts'
import { createRooms, type EdgeEffect, type Rooms } from './rooms.ts'
import type { ClientSocket, Place, SocketServer } from './socketTypes.ts'

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

const events: ReadonlySet<string> = new Set<keyof ClientToServer>([
  'join',
  'signal',
  'lost',
  'linked',
  'ran',
  'host',
  'leave',
])

export function createSignaling(parts: SignalingParts): Signaling {
  const { config, clock, log, metrics, isDraining } = parts
  const secret = config.secret ?? freshIds().token
  const budgets = createBudgets(config)
  const probing = new Set<string>()
  const anyOrigin = config.origins.includes('*')
  const io: SocketServer = new Server(parts.http, {
    serveClient: false,
    maxHttpBufferSize: limits.eventBytes,
    cors: { origin: anyOrigin ? '*' : config.origins },
    allowRequest: ({ headers }, decide) => decide(null, admits(headers.origin, headers.host)),
  })
  const socketOf = (connection: string) => io.sockets.sockets.get(connection)

  /** A page of this server is always welcome, a page of another origin when the operator named it. */
  function admits(origin: string | undefined, host: string | undefined): boolean {
    if (io.engine.clientsCount >= config.maxConnections) return false
    if (anyOrigin || origin === undefined || config.origins.includes(origin)) return true
    return URL.canParse(origin) && new URL(origin).host === host
  }

  const rooms = createRooms({
    settings: {
      maxMembers: config.maxPeersPerRoom,
      nameLength: limits.nameLength,
      graceSeconds: config.graceSeconds,
      emptySeconds: config.emptySeconds,
    },
    clock,
    perform,
    observe: observer(log, metrics),
  })

  function perform(code: string, effect: EdgeEffect): void {
    if (effect.type === 'view') {
      for (const connection of effect.to) socketOf(connection)?.emit('view', effect.view)
      return
    }
    const socket = socketOf(effect.connection)
    if (!socket) return
    switch (effect.type) {
      case 'welcome': {
        const { reply } = socket.data
        const { peerId, token, name, host, view } = effect
        const stunPort = parts.stunPort()
        socket.data.place = { code, peerId }
        delete socket.data.reply
        reply?.({
          ok: true,
          peerId,
          token,
          room: code,
          name,
          host,
          view,
          ...(stunPort !== undefined && { stunPort }),
          iceServers: iceServersFor(config, peerId, new Date()),
        })
        return
      }
      case 'refuse':
        refuse(socket, metrics, new Refusal(effect.code, effect.message), socket.data.reply)
        return
      case 'removed':
        delete socket.data.place
        socket.emit('removed', { cause: effect.cause, code: 'ROOM_CLOSED', message: effect.message })
        socket.disconnect(true)
        return
      case 'probe':
        probe(code, socket)
    }
  }

  function probe(code: string, socket: ClientSocket): void {
    if (probing.has(socket.id)) return
    probing.add(socket.id)
    void isAlive(socket, clock, config.aliveSeconds).then((alive) => {
      probing.delete(socket.id)
      if (!alive) rooms.dispatch(code, { type: 'silent', connection: socket.id })
    })
  }

  function placeOf(socket: ClientSocket, event: string): Place {
    if (!socket.data.place) throw new Refusal('PROTOCOL', `${event}: this connection has no seat; join first`)
    return socket.data.place
  }

  function relay(socket: ClientSocket, raw: unknown): void {
    const { code, peerId } = placeOf(socket, 'signal')
    const { to, data } = parse(signalSchema, 'signal', raw)
    const text = JSON.stringify(data) ?? ''
    const bytes = Buffer.byteLength(text)
    if (bytes > limits.signalBytes) {
      throw new Refusal('PROTOCOL', `signal.data: ${bytes} bytes are more than ${limits.signalBytes}`)
    }
    // A signal for somebody who has just left is no mistake of the sender.
    const target = rooms.get(code)?.seats.find((seat) => seat.peerId === to)
    if (!target?.connection || target.peerId === peerId) return
    metrics.signals.inc({ type: signalType(data) })
    metrics.signalBytes.inc(bytes)
    socketOf(target.connection)?.emit('signal', { from: peerId, data })
  }

  /** Runs a handler; nothing that a client sends may end the process or leave the client without an answer. */
  function guard(
    socket: ClientSocket,
    event: string,
    handle: () => void | Promise<void>,
    reply?: (reply: JoinReply) => void,
  ): void {
    const fail = (error: unknown) => {
      if (!(error instanceof Refusal)) log.error({ event, err: error }, 'handler failed')
      const refusal =
        error instanceof Refusal ? error : new Refusal('PROTOCOL', `${event}: the server failed`)
      refuse(socket, metrics, refusal, reply)
    }
    void (async () => handle())().catch(fail)
  }

  io.on('connection', (socket) => {
    const connection = socket.id
    const joining = { config, secret, clock, rooms, budgets, isDraining, socketOf }

    socket.use(([event, ...args], next) => {
      const bytes = Buffer.byteLength(JSON.stringify(args))
      guard(socket, event, async () => {
        const { ok, isFirst } = await budgets.event(connection, bytes)
        if (!ok && !isFirst) return
        if (!ok)
          throw new Refusal('RATE_LIMITED', 'Too many messages in a short time; the server drops some.')
        if (!events.has(event)) throw new Refusal('PROTOCOL', `There is no event ${event.slice(0, 40)}.`)
        next()
      })
    })
    socket.on('join', (raw, ...rest) => {
      const reply = replyIn(rest)
      const handle = async () => {
        if (!reply) throw new Refusal('PROTOCOL', 'join: a reply function is missing')
        await handleJoin(joining, socket, raw, reply)
      }
      guard(socket, 'join', handle, reply)
    })
    socket.on('signal', (raw) => guard(socket, 'signal', () => relay(socket, raw)))
    socket.on('lost', (raw) =>
      guard(socket, 'lost', () => {
        const { code } = placeOf(socket, 'lost')
        rooms.dispatch(code, { type: 'lost', connection, ...parse(lostSchema, 'lost', raw) })
      }),
    )
    socket.on('linked', (raw) =>
      guard(socket, 'linked', () => {
        const { code } = placeOf(socket, 'linked')
        const { peerId, path } = parse(linkedSchema, 'linked', raw)
        metrics.links.inc({ path })
        if (path !== 'failed') rooms.dispatch(code, { type: 'linked', connection, peerId })
      }),
    )
    socket.on('ran', (raw) =>
      guard(socket, 'ran', () => {
        placeOf(socket, 'ran')
        metrics.runs.observe(parse(ranSchema, 'ran', raw).seconds)
      }),
    )
    socket.on('host', (raw) =>
      guard(socket, 'host', () => {
        const { code } = placeOf(socket, 'host')
        const request = parse(hostSchema, 'host', raw)
        if (request.action === 'kick')
          rooms.dispatch(code, { type: 'kick', connection, peerId: request.peerId })
        if (request.action === 'lock')
          rooms.dispatch(code, { type: 'lock', connection, locked: request.locked })
        if (request.action === 'close') rooms.dispatch(code, { type: 'close', connection })
      }),
    )
    socket.on('leave', (reply) =>
      guard(socket, 'leave', () => {
        const { place } = socket.data
        delete socket.data.place
        if (place) rooms.dispatch(place.code, { type: 'leave', connection })
        if (typeof reply === 'function') reply()
      }),
    )
    socket.on('disconnect', () => {
      const { place } = socket.data
      if (place) rooms.dispatch(place.code, { type: 'disconnect', connection })
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

function replyIn(args: readonly unknown[]): ((reply: JoinReply) => void) | undefined {
  const last = args.at(-1)
  return typeof last === 'function' ? (last as (reply: JoinReply) => void) : undefined
}

/** offer, answer, candidate ... as the client's WebRTC library names them; anything else is `other`. */
function signalType(data: unknown): string {
  const type = typeof data === 'object' && data !== null && 'type' in data ? data.type : undefined
  return (
    ['offer', 'answer', 'candidate', 'renegotiate', 'transceiverRequest'].find((known) => known === type) ??
    'other'
  )
}
