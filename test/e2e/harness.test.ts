/** The tests of the page rely on their watch: each kind of problem is seen, and a clean page is not blamed. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchAsPeopleHaveIt, launchChromium, type Running } from '../support/launch.ts'
import { Tabs } from '../support/pages.ts'

const scripts: Record<string, { script: string; problem: RegExp }> = {
  'an uncaught error': {
    script: 'setTimeout(() => { throw new Error("boom") })',
    problem: /^uncaught: .*boom/,
  },
  'an unhandled rejection': { script: 'Promise.reject(new Error("lost"))', problem: /lost/ },
  'a console error': { script: 'console.error("bad news")', problem: /^console: bad news/ },
  'a request to a foreign host': {
    script: 'fetch("http://127.0.0.2:9/x").catch(() => {})',
    problem: /^foreign host: http:\/\/127\.0\.0\.2:9\/x/,
  },
  'a socket to a foreign host': {
    script: 'new WebSocket("ws://127.0.0.2:9/x")',
    problem: /^foreign host: ws:\/\/127\.0\.0\.2:9\/x/,
  },
  'an ICE server on a foreign host': {
    script: 'new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.2:3478" }] })',
    problem: /ICE server on a foreign host: 127\.0\.0\.2/,
  },
}
const names = Object.keys(scripts)

let http: Server
let url: string
let chromium: Running

beforeAll(async () => {
  http = createServer((request, response) => {
    const script = scripts[names[Number(request.url?.slice(1))] ?? '']?.script ?? ''
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><link rel="icon" href="data:,"><script>${script}</script><p>loaded</p>`)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`
  chromium = await launchChromium()
})

afterAll(async () => {
  await chromium.close()
  http.close()
})

describe('the watch over the page', () => {
  for (const [index, name] of names.entries())
    it(`sees ${name}`, async () => {
      const tabs = new Tabs(await chromium.browser.newContext(), { url })
      await tabs.open(`/${index}`)
      await expect.poll(() => tabs.problems().join('\n')).toMatch(scripts[name]!.problem)
    })

  it('blames nobody for a clean page, an ICE server of its own host, or what a test expects', async () => {
    const tabs = new Tabs(await chromium.browser.newContext(), { url })
    const tab = await tabs.open('/clean')
    await tab.page.evaluate(() => {
      new RTCPeerConnection({ iceServers: [{ urls: `stun:${location.hostname}:3478` }] })
      console.error('announced')
    })
    await expect.poll(() => tabs.problems()).toEqual([expect.stringMatching('announced')])
    tabs.expectProblem(/announced/)
    expect(tabs.problems()).toEqual([])
  })
})

it('a browser as people have it hides the tabs behind the front one and blocks all but one pop-up', async () => {
  const running = await launchAsPeopleHaveIt()
  try {
    const tabs = new Tabs(running.context, { url })
    const behind = await tabs.open('/clean')
    const front = await tabs.open('/clean')
    await front.page.bringToFront()
    expect(await behind.page.evaluate(() => document.visibilityState)).toBe('hidden')
    expect(await front.page.evaluate(() => document.visibilityState)).toBe('visible')
    await front.page.evaluate(() => {
      document.body.onclick = () => {
        document.title = String(
          [open('/a'), open('/b'), open('/c')].filter((window) => window !== null).length,
        )
      }
    })
    await front.page.click('p')
    await expect.poll(() => front.page.title()).toBe('1')
  } finally {
    await running.close()
  }
})
