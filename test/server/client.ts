/** Real socket.io clients against the real server, on loopback. Everything they hear is kept and can be waited for. */
import { io, type ManagerOptions, type Socket } from 'socket.io-client'
import { createServer, type PapilioServer } from '../../server/app.ts'
import type { ServerOptions } from '../../server/config.ts'
import type { Log } from '../../server/log.ts'
import { type Clock, realClock } from '../../shared/base/clock.ts'
import type { View } from '../../shared/membership/types.ts'
import type { ClientToServer, JoinReply, JoinRequest, ServerToClient } from '../../shared/signaling/events.ts'

export type Accepted = Extract<JoinReply, { ok: true }>

export interface Heard {
  readonly event: string
  readonly value: unknown
}

export class TestClient {
  readonly socket: Socket<ServerToClient, ClientToServer>
  readonly heard: Heard[] = []
  /** Answers `alive` questions; a frozen page does not. */
  answers = true
  #read = 0
  #waiting: (() => void)[] = []

  constructor(url: string, options: Partial<ManagerOptions> = {}) {
    this.socket = io(url, { transports: ['websocket'], forceNew: true, reconnection: false, ...options })
    const note = (event: string, value?: unknown) => {
      this.heard.push({ event, value })
      for (const wake of this.#waiting.splice(0)) wake()
    }
    for (const event of ['view', 'signal', 'removed', 'refused', 'draining'] as const) {
      this.socket.on(event, (value: unknown) => note(event, value))
    }
    this.socket.on('alive', (reply) => {
      note('alive')
      if (this.answers) reply()
    })
    this.socket.on('disconnect', (reason) => note('disconnect', reason))
    this.socket.on('connect_error', (error) => note('connect_error', error.message))
  }

  /** The next thing heard that fits; earlier ones that do not fit are passed over. */
  async next<T>(event: string, fits: (value: T) => boolean = () => true): Promise<T> {
    for (;;) {
      while (this.#read < this.heard.length) {
        const one = this.heard[this.#read++]!
        if (one.event === event && fits(one.value as T)) return one.value as T
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Until this client sees a view with these names. */
  view(...names: string[]): Promise<View> {
    return this.next('view', (view: View) => names.join() === view.members.map(({ name }) => name).join())
  }

  join(request: object = {}): Promise<JoinReply> {
    const whole = { protocol: 1, create: true, name: '', kind: 'node', ...request } as JoinRequest
    return this.socket.emitWithAck('join', whole)
  }

  async accepted(request: Partial<JoinRequest> = {}): Promise<Accepted> {
    const reply = await this.join(request)
    if (!reply.ok) throw new Error(`refused: ${reply.code} ${reply.message}`)
    return reply
  }

  /** Sends anything at all, as a hostile client would. */
  raw(event: string, ...args: unknown[]): void {
    ;(this.socket as unknown as { emit(event: string, ...args: unknown[]): void }).emit(event, ...args)
  }

  /** The connection ends without a goodbye. */
  drop(): void {
    this.socket.io.engine.close()
  }

  close(): void {
    this.socket.disconnect()
  }
}

export interface Bed {
  readonly port: number
  readonly url: string
  readonly stunPort: number | undefined
  readonly server: PapilioServer
  client(options?: Partial<ManagerOptions>): TestClient
  metrics(): Promise<string>
  close(): Promise<void>
}

/** A server with clients that end together. */
export async function startBed(
  options: ServerOptions = {},
  parts: { clock?: Clock; log?: Log } = {},
): Promise<Bed> {
  const server = createServer({ port: 0, host: '127.0.0.1', ...options }, { clock: realClock, ...parts })
  const { port, stunPort } = await server.listen()
  const url = `http://127.0.0.1:${port}`
  const clients: TestClient[] = []
  return {
    port,
    url,
    stunPort,
    server,
    client(clientOptions) {
      const client = new TestClient(url, clientOptions)
      clients.push(client)
      return client
    },
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    async close() {
      for (const client of clients) client.close()
      await server.close()
    },
  }
}
