/** Plain HTTP: health, version, metrics, and the page with its headers. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import sirv, { type RequestHandler } from 'sirv'
import { protocolVersion } from '../shared/signaling/limits.ts'
import type { Metrics } from './metrics.ts'

/** Addresses of the page: it reads the rest of the path itself. */
const pagePaths = /^\/(?:j\/[^/]+|teach|learn|bench|check|r)?\/?$/

export interface HttpParts {
  readonly pageDir: string
  readonly version: string
  readonly metrics: Metrics
  isDraining(): boolean
}

export function createHttpHandler({ pageDir, version, metrics, isDraining }: HttpParts) {
  const index = join(pageDir, 'index.html')
  let files: RequestHandler | undefined

  /** The page may be built after the start. */
  function page(): RequestHandler | undefined {
    if (!files && existsSync(index)) {
      files = sirv(pageDir, {
        etag: true,
        setHeaders(response, path) {
          // Built files carry a hash in their name; the page itself must be asked for each time.
          const isHashed = path.startsWith('/assets/')
          response.setHeader('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
        },
      })
    }
    return files
  }

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
        if (isDraining()) return send(response, 503, 'text/plain', 'the server is stopping\n')
        if (!page()) return send(response, 503, 'text/plain', 'the page is not built: run npm run build\n')
        return send(response, 200, 'text/plain', 'ok\n')
      case '/version': {
        const build = page()
          ? createHash('sha256').update(readFileSync(index)).digest('hex').slice(0, 12)
          : null
        const body = { name: 'papilio', version, protocol: protocolVersion, build }
        return send(response, 200, 'application/json', `${JSON.stringify(body)}\n`)
      }
      case '/metrics':
        return send(response, 200, metrics.registry.contentType, await metrics.registry.metrics())
    }
    const serve = page()
    if (!serve) {
      return send(response, 503, 'text/plain', 'The page is not built. Run: npm run build\n')
    }
    if (pagePaths.test(path)) request.url = '/'
    serve(request, response, () => send(response, 404, 'text/plain', 'There is nothing here.\n'))
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, response).catch(() => {
      if (!response.headersSent) send(response, 500, 'text/plain', 'The server failed.\n')
      else response.destroy()
    })
  }
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
