/** The server: signalling, STUN, health and the page, on one port number. */
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Clock, realClock } from '../shared/base/clock.ts'
import { ArgumentError } from '../shared/base/errors.ts'
import { parseConfig, type ServerConfig, type ServerOptions } from './config.ts'
import { createHttpHandler } from './http.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics } from './metrics.ts'
import { createPage } from './page.ts'
import { createSignaling } from './signaling.ts'
import { type StunResponder, startStun } from './stun.ts'
import { type Urls, urlsOf } from './urls.ts'

export interface PapilioServer {
  /** Resolves when connections are taken. Rejects with an ArgumentError when the port or host cannot be had. */
  listen(): Promise<Listening>
  /** Takes no new rooms, tells the clients, and ends within 10 s. */
  close(): Promise<void>
}

export interface Listening {
  readonly port: number
  readonly urls: Urls
  /** Absent when STUN is switched off or its UDP port is taken. */
  readonly stunPort?: number
  /** The page is built; without it only signalling works. */
  readonly hasPage: boolean
}

/** Requests that are still under way at the end get this long, seconds. */
const lastRequests = 1

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Throws an ArgumentError that names the setting when an option is out of range. */
export function createServer(
  options: ServerOptions = {},
  parts: { clock?: Clock; log?: Log } = {},
): PapilioServer {
  const config = parseConfig(options)
  const clock = parts.clock ?? realClock
  const log = parts.log ?? createLog(config.logLevel)
  let stun: StunResponder | undefined
  let isDraining = false
  let closing: Promise<void> | undefined
  let urls: Urls | undefined

  const metrics = createMetrics(
    () => signaling.rooms,
    () => signaling.connections,
    version,
  )
  const shared = { config, clock, log, metrics, isDraining: () => isDraining }
  const page = createPage(config.pageDir)
  const http = createHttpServer(createHttpHandler({ ...shared, page, version, lan: () => urls?.lan ?? [] }))
  const signaling = createSignaling({ ...shared, http, stunPort: () => stun?.port })

  async function close(): Promise<void> {
    isDraining = true
    log.info({ connections: signaling.connections }, 'stopping')
    signaling.announceEnd()
    if (config.drainSeconds > 0) {
      await new Promise<void>((resolve) => clock.after(config.drainSeconds, resolve))
    }
    const cancel = clock.after(lastRequests, () => http.closeAllConnections())
    await Promise.all([stun?.close(), signaling.close()])
    cancel()
  }

  return {
    async listen() {
      await new Promise<void>((resolve, reject) => {
        http.once('error', (error) => reject(listenError(error, config)))
        http.listen({ port: config.port, ...(config.host !== undefined && { host: config.host }) }, resolve)
      })
      const bound = http.address() as AddressInfo
      if (config.stunPort !== 0) {
        stun = await startStun(
          { address: bound.address, port: config.stunPort ?? bound.port },
          { log, metrics },
        )
      }
      log.info({ port: bound.port, stun: stun !== undefined }, 'listening')
      urls = urlsOf(bound, networkInterfaces())
      return { port: bound.port, urls, ...(stun && { stunPort: stun.port }), hasPage: page.isBuilt() }
    },
    close: () => (closing ??= close()),
  }
}

function listenError(error: NodeJS.ErrnoException, { port, host }: ServerConfig): Error {
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} is in use. Stop the other program or take another port, such as PORT=${port + 1}.`,
    EACCES: `Port ${port} is not allowed for this user. Take one above 1023, such as PORT=3000.`,
    EADDRNOTAVAIL: `HOST=${host} is not an address of this machine.`,
    ENOTFOUND: `HOST=${host} is not an address of this machine.`,
  }
  const sentence = sentences[error.code ?? '']
  if (sentence === undefined) return error
  return new ArgumentError(error.code === 'EADDRINUSE' || error.code === 'EACCES' ? 'port' : 'host', sentence)
}
