/** Plain HTTP: health, version, metrics, and the page with its headers. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { protocolVersion } from '../shared/signaling/limits.ts'
import { unmapped } from './address.ts'
import type { Metrics } from './metrics.ts'
import type { Page } from './page.ts'

const notBuilt = 'The page is not built. Run: npm run build\n'

export interface HttpParts {
  readonly page: Page
  readonly version: string
  readonly metrics: Metrics
  isDraining(): boolean
  /** Addresses of this server in the local network: for the page on this machine only, which cannot know them. */
  lan(): readonly string[]
}

export function createHttpHandler({ page, version, metrics, isDraining, lan }: HttpParts) {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(headersFor(request.headers.host)))
      response.setHeader(name, value)
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD')
      return send(response, 405, 'text/plain', 'Only GET and HEAD are answered here.\n')
    }
    const path = request.url?.split('?')[0] ?? '/'
    switch (path) {
      case '/livez':
        return send(response, 200, 'text/plain', 'ok\n')
      case '/readyz':
        if (isDraining()) return send(response, 503, 'text/plain', 'The server is stopping.\n')
        if (!page.isBuilt()) return send(response, 503, 'text/plain', notBuilt)
        return send(response, 200, 'text/plain', 'ok\n')
      case '/version': {
        const own = { name: 'papilio', version, protocol: protocolVersion, build: page.build() }
        const body = isOwnHost(request) ? { ...own, lan: lan() } : own
        return send(response, 200, 'application/json', `${JSON.stringify(body)}\n`)
      }
      case '/metrics':
        return send(response, 200, metrics.registry.contentType, await metrics.registry.metrics())
    }
    if (!page.isBuilt()) return send(response, 503, 'text/plain', notBuilt)
    page.serve(path, request, response, () => {
      // People get the page, which tells them where they are.
      if (request.headers.accept?.includes('text/html')) send(response, 404, 'text/html', page.document())
      else send(response, 404, 'text/plain', 'There is nothing here.\n')
    })
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, response).catch(() => {
      if (!response.headersSent) send(response, 500, 'text/plain', 'The server failed.\n')
      else response.destroy()
    })
  }
}

/** Asked on this machine and not through a proxy, which would be on this machine too. */
function isOwnHost({ socket, headers }: IncomingMessage): boolean {
  const address = unmapped(socket.remoteAddress ?? '')
  return (address === '::1' || address.startsWith('127.')) && headers['x-forwarded-for'] === undefined
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': type.includes('charset') ? type : `${type}; charset=utf-8`,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

/**
 * Scripts, workers and styles only from this server; connections only to it. Frames of the page hold the peers "in this
 * page"; WebAssembly may be compiled for the reduction kernels. The room code stands in the address, hence no referrer.
 * No Cross-Origin-Opener-Policy: a trace is handed to the viewer's window that the page opened.
 */
export function headersFor(host: string | undefined): Readonly<Record<string, string>> {
  const own = host !== undefined && /^[\w.:[\]-]+$/.test(host) ? ` ws://${host} wss://${host}` : ''
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self' 'wasm-unsafe-eval'",
      "worker-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      "img-src 'self' data:",
      "manifest-src 'self'",
      "frame-src 'self'",
      "frame-ancestors 'self'",
      `connect-src 'self'${own}`,
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  }
}
