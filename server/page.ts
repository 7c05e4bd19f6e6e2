/** The built page. It may be built, or built again, while the server runs. */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import sirv, { type RequestHandler } from 'sirv'

/** Addresses that the page itself understands: all of them are its one document. */
const documents = /^\/(?:(?:j|learn|bench)\/[^/]+|teach|learn|bench|check|r)?\/?$/

export interface Page {
  isBuilt(): boolean
  /** Names this build: the document refers to everything else by hash. */
  build(): string | null
  /** The document itself: it says so when there is nothing at its address. Only of a built page. */
  document(): string
  serve(path: string, request: IncomingMessage, response: ServerResponse, onMissing: () => void): void
}

export function createPage(directory: string): Page {
  const index = join(directory, 'index.html')
  const builtAt = () => statSync(index, { throwIfNoEntry: false })?.mtimeMs
  let files: { readonly builtAt: number; readonly serve: RequestHandler } | undefined

  /** Knows the files of one build and serves no others; a later build is looked through again. */
  function filesOf(time: number): RequestHandler {
    if (files?.builtAt !== time) {
      const serve = sirv(directory, {
        etag: true,
        setHeaders(response, path) {
          const isHashed = path.startsWith('/assets/')
          response.setHeader('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
        },
      })
      files = { builtAt: time, serve }
    }
    return files.serve
  }

  return {
    isBuilt: () => builtAt() !== undefined,
    build() {
      if (builtAt() === undefined) return null
      return createHash('sha256').update(readFileSync(index)).digest('hex').slice(0, 12)
    },
    document: () => readFileSync(index, 'utf8'),
    serve(path, request, response, onMissing) {
      if (documents.test(path)) request.url = '/'
      filesOf(builtAt() ?? 0)(request, response, onMissing)
    },
  }
}
