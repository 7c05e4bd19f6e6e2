/** A server, a browser and tabs for a file of tests. */
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { launchChromium, type Running } from './launch.ts'
import { Tabs } from './pages.ts'
import { startServer, type TestServer } from './server.ts'

export interface House {
  readonly server: TestServer
  readonly tabs: Tabs
}

/** For the file that calls it: one server, one browser, and for each test tabs of its own that must stay clean. */
export function openHouse(): House {
  let server: TestServer
  let chromium: Running
  let context: BrowserContext
  let tabs: Tabs

  beforeAll(async () => {
    server = await startServer()
    chromium = await launchChromium()
  })
  beforeEach(async () => {
    context = await chromium.browser.newContext()
    tabs = new Tabs(context, server)
  })
  afterEach(async () => {
    const problems = tabs.problems()
    await context.close()
    expect(problems).toEqual([])
  })
  afterAll(async () => {
    await chromium?.close()
    await server?.close()
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
