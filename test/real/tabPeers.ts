/** Peers in tabs of one Chromium: closed, crashed, frozen as a tab in the background, or held by a debugger. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { Emitter } from '../../shared/base/emitter.ts'
import { launchChromium } from '../support/launch.ts'
import { bundleScript } from '../support/library.ts'
import { Tabs } from '../support/pages.ts'
import type { Command, FaultKind, Said } from './messages.ts'
import { type Peer, type PeerSource, reuse } from './peers.ts'
import type { accept } from './tabMember.ts'

declare const realMember: { accept: typeof accept }

const kinds: readonly FaultKind[] = ['close', 'crash', 'freeze', 'pause', 'return', 'cut', 'leave', 'server']

export async function createTabPeers(): Promise<PeerSource & { problems(): string[] }> {
  // A page of somebody else, without a policy of what it may connect to. It is never away, while the servers of its groups are killed.
  const site = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><link rel="icon" href="data:,"><title>peer</title>')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const running = await launchChromium()
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  const tabs = new Tabs(running.context, { url })
  // A tab that crashes on purpose, and a server that is away on purpose.
  tabs.expectProblem(/^crash|ERR_CONNECTION_REFUSED|WebSocket connection|^foreign host/)
  await tabs.addScript(await bundleScript(join(import.meta.dirname, 'tabMember.ts'), 'realMember'))
  const source = reuse(kinds, async () => {
    const { page } = await tabs.open()
    const peer = new TabPeer(page, await page.context().newCDPSession(page))
    await page.exposeFunction('papilioSays', (said: Said) => peer.heard.emit('said', said))
    return peer
  })
  return {
    ...source,
    problems: () => tabs.takeProblems(),
    async close() {
      await running.close()
      site.close()
    },
  }
}

class TabPeer implements Peer {
  readonly heard = new Emitter<{ said: Said; gone: number }>()
  readonly #page: Page
  readonly #devtools: CDPSession
  #resume = () => {}
  isGone = false

  constructor(page: Page, devtools: CDPSession) {
    this.#page = page
    this.#devtools = devtools
    page.once('close', () => this.#gone())
    page.once('crash', () => this.#gone())
  }

  #gone(): void {
    if (this.isGone) return
    this.isGone = true
    this.heard.emit('gone', Date.now())
  }

  post(command: Command): void {
    // A tab that has ended, or is held, answers nothing.
    this.#page.evaluate((given) => realMember.accept(given), command).catch(() => {})
  }

  strike(kind: FaultKind): void {
    // Never answered by a renderer that is gone.
    const order = (method: 'Page.crash' | 'Debugger.enable' | 'Debugger.pause' | 'Debugger.resume') =>
      void this.#devtools.send(method).catch(() => {})
    const become = (state: 'frozen' | 'active') =>
      void this.#devtools.send('Page.setWebLifecycleState', { state }).catch(() => {})
    if (kind === 'close' || kind === 'return') void this.#page.close()
    else if (kind === 'crash') order('Page.crash')
    else if (kind === 'freeze') {
      become('frozen')
      this.#resume = () => become('active')
    } else if (kind === 'pause') {
      order('Debugger.enable')
      order('Debugger.pause')
      this.#resume = () => order('Debugger.resume')
    }
  }

  pause(): void {
    this.strike('pause')
  }

  resume(): void {
    this.#resume()
  }

  async end(): Promise<void> {
    await this.#page.close()
  }
}
