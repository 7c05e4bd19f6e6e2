/** The server: signalling, STUN, health and the page on one port number. */
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, realClock } from '../shared/base/clock.ts'
import { parseConfig, type ServerOptions } from './config.ts'
import { createHttpHandler } from './http.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics } from './metrics.ts'
import { createSignaling } from './signaling.ts'

export interface PapilioServer {
  /** Resolves when connections are taken. */
  listen(): Promise<Listening>
  /** Takes no new rooms, tells the clients, and ends. */
  close(): Promise<void>
}

export interface Listening {
  readonly port: number
  readonly urls: { readonly local: string; readonly lan: readonly string[] }
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

export function createServer(
  options: ServerOptions = {},
  parts: { clock?: Clock; log?: Log } = {},
): PapilioServer {
  const config = parseConfig(options)
  const clock = parts.clock ?? realClock
  const log = parts.log ?? createLog(config.logLevel)
  let isDraining = false
  const metrics = createMetrics(
    () => signaling.rooms,
    () => signaling.connections,
    version,
  )
  const http = createHttpServer(
    createHttpHandler({ pageDir: config.pageDir, version, metrics, isDraining: () => isDraining }),
  )
  const signaling = createSignaling({
    http,
    config,
    clock,
    log,
    metrics,
    stunPort: () => undefined,
    isDraining: () => isDraining,
  })

  return {
    async listen() {
      await new Promise<void>((resolve, reject) => {
        http.once('error', reject)
        http.listen({ port: config.port, ...(config.host !== undefined && { host: config.host }) }, resolve)
      })
      const { port } = http.address() as AddressInfo
      return { port, urls: { local: `http://localhost:${port}`, lan: [] } }
    },
    async close() {
      isDraining = true
      signaling.announceEnd()
      await signaling.close()
    },
  }
}
