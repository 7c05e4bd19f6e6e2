/** The real server, with the built page, on a port of its own. */
import { createServer } from '../../server/app.ts'
import type { ServerOptions } from '../../server/config.ts'

export interface TestServer {
  readonly port: number
  /** On 127.0.0.1: a name could also mean ::1. */
  readonly url: string
  close(): Promise<void>
}

/** Port 0, the default, takes a free one; a restart names the port of before. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const server = createServer({ port: 0, logLevel: 'warn', ...options })
  const { port } = await server.listen()
  return { port, url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
