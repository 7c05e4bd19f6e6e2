/** A server, a browser and tabs for a file of tests. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { launchChromium, type Running } from './launch.ts'
import { Tabs } from './pages.ts'
import { startServer, type TestServer } from './server.ts'

export interface House {
  readonly server: TestServer
  readonly tabs: Tabs
}

export interface HouseOptions {
  /** A browser for each test (default), or one for the whole file. Its tabs must stay clean either way. */
  browser?: 'test' | 'file'
  launch?: () => Promise<Running>
}

/** For the file that calls it: one server, a browser, and tabs. */
export function openHouse({ browser: life = 'test', launch = launchChromium }: HouseOptions = {}): House {
  let server: TestServer
  let running: Running | undefined
  let tabs: Tabs

  const open = async () => {
    running = await launch()
    tabs = new Tabs(running.context, server)
  }
  const close = async () => {
    await running?.close()
    running = undefined
  }

  beforeAll(async () => {
    server = await startServer()
    if (life === 'file') await open()
  })
  if (life === 'test') beforeEach(open)
  afterEach(async () => {
    const problems = tabs.takeProblems()
    if (life === 'test') await close()
    expect(problems).toEqual([])
  })
  afterAll(async () => {
    await close()
    await server.close()
  })
  return {
    get server() {
      return server
    },
    get tabs() {
      return tabs
    },
  }
}
