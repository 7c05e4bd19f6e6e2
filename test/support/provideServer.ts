/** For tests that run inside a browser: the real server is beside them, `inject('serverUrl')` says where. */
import type { TestProject } from 'vitest/node'
import { startServer } from './server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    serverUrl: string
  }
}

export default async function provideServer(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer()
  project.provide('serverUrl', server.url)
  return () => server.close()
}
