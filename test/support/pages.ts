/**
 * The page as tests see it: tabs of a real browser on a real server, looked at from outside through the hooks of the
 * page (`data-app-state`, `data-testid`). A tab with an uncaught error, a console error or a request to a foreign host
 * fails its test.
 */
import type { BrowserContext, Locator, Page } from 'playwright-core'

/** Gives every problem that a page can have a voice: rejections nobody handled, and ICE servers of a foreign host. */
const watchFromInside = `{
  addEventListener('unhandledrejection', ({ reason }) => console.error('unhandled rejection: ' + (reason?.stack ?? reason)))
  const Native = globalThis.RTCPeerConnection
  globalThis.RTCPeerConnection = class RTCPeerConnection extends Native {
    constructor(config, ...rest) {
      super(config, ...rest)
      const hosts = (config?.iceServers ?? []).flatMap(({ urls }) => urls).map((url) => url.replace(/^\\w+:|[:?].*$/g, ''))
      for (const host of hosts)
        if (host !== location.hostname) console.error('ICE server on a foreign host: ' + host)
    }
  }
}`

export class Tabs {
  readonly #context: BrowserContext
  readonly #server: { url: string }
  readonly #problems: string[] = []
  readonly #expected: RegExp[] = []
  readonly #ready: Promise<unknown>

  constructor(context: BrowserContext, server: { url: string }) {
    this.#context = context
    this.#server = server
    this.#ready = context.addInitScript(watchFromInside)
    // Pages that the page itself opens are watched as well.
    context.on('page', this.#watch)
  }

  /** Runs a classic script in every tab before anything of the page. */
  async addScript(content: string): Promise<void> {
    await this.#context.addInitScript({ content })
  }

  /** Opens a tab on a path of the server, or on a whole URL. */
  async open(path = '/'): Promise<Tab> {
    await this.#ready
    const page = await this.#context.newPage()
    await page.goto(new URL(path, this.#server.url).href)
    return new Tab(page)
  }

  /** Opens `count` tabs in one room, and waits until all agree that they are `count` and ready. */
  async openRoom(count: number): Promise<Tab[]> {
    const first = await this.open()
    const url = await first.joinUrl()
    const others = await Promise.all(Array.from({ length: count - 1 }, () => this.open(url)))
    const tabs = [first, ...others]
    await Promise.all(tabs.map((tab) => tab.waitForGroup(count)))
    return tabs
  }

  /** Tabs of this context, those included that the page has opened. */
  pages(): Tab[] {
    return this.#context.pages().map((page) => new Tab(page))
  }

  /** The test provokes a problem that this pattern describes. */
  expectProblem(pattern: RegExp): void {
    this.#expected.push(pattern)
  }

  problems(): string[] {
    return this.#problems.filter((problem) => !this.#expected.some((pattern) => pattern.test(problem)))
  }

  readonly #watch = (page: Page): void => {
    const { host } = new URL(this.#server.url)
    const report = (kind: string, text: string) => this.#problems.push(`${kind}: ${text}`)
    page.on('pageerror', (error) => report('uncaught', error.stack ?? error.message))
    page.on('crash', () => report('crash', page.url()))
    page.on('console', (message) => {
      if (message.type() === 'error') report('console', `${message.text()} (${message.location().url})`)
    })
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (/^(https?|wss?):$/.test(url.protocol) && url.host !== host) report('foreign host', request.url())
    })
    page.on('websocket', (socket) => {
      if (new URL(socket.url()).host !== host) report('foreign host', socket.url())
    })
  }
}

export class Tab {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  at(testId: string): Locator {
    return this.page.getByTestId(testId)
  }

  /** The text of an element, white space made single. */
  async words(testId: string): Promise<string> {
    return ((await this.at(testId).first().textContent()) ?? '').replace(/\s+/g, ' ').trim()
  }

  /** Waits for `data-app-state`, and for a group of `size` when given. */
  async waitFor(state: string, size?: number, timeout = 30_000): Promise<void> {
    const group = size === undefined ? '' : `[data-p="${size}"]`
    await this.page
      .locator(`html[data-app-state="${state}"]${group}`)
      .waitFor({ state: 'attached', timeout })
      .catch(async (cause: unknown) => {
        throw new Error(`The page is not ${state}${group} but ${JSON.stringify(await this.look())}`, {
          cause,
        })
      })
  }

  /** Ready with `size` members; alone a page is `empty`. */
  async waitForGroup(size: number, timeout?: number): Promise<void> {
    await this.waitFor(size === 1 ? 'empty' : 'ready', size, timeout)
  }

  /** What the page says of itself, for assertions and messages. */
  async look(): Promise<{ state: string; size: number; rank: number; epoch: number; banner: string | null }> {
    const html = this.page.locator('html')
    const data = async (name: string) => (await html.getAttribute(`data-${name}`)) ?? ''
    return {
      state: await data('app-state'),
      size: Number(await data('p')),
      rank: Number(await data('rank')),
      epoch: Number(await data('epoch')),
      banner: (await this.at('banner').count()) > 0 ? await this.words('banner') : null,
    }
  }

  async joinUrl(): Promise<string> {
    const element = this.at('join-url').first()
    await element.waitFor({ state: 'attached' })
    const url =
      (await element.getAttribute('href')) ?? (await element.inputValue().catch(() => element.textContent()))
    return (url ?? '').trim()
  }

  /** Clicks Run, and waits for a verified result that is right. */
  async run(timeout = 30_000): Promise<void> {
    await this.at('run').click()
    await this.waitFor('running')
    await this.waitFor('ready', undefined, timeout)
    await this.page.locator('[data-testid="verify"][data-ok="true"]').waitFor({ timeout })
  }

  /** Rows of the roster: rank, name, state. */
  async roster(): Promise<{ rank: number; name: string; state: string }[]> {
    const rows = await this.at('peer-row').all()
    return Promise.all(
      rows.map(async (row) => ({
        rank: Number(await row.getAttribute('data-rank')),
        name: (await row.getAttribute('data-name')) ?? '',
        state: (await row.getAttribute('data-state')) ?? '',
      })),
    )
  }
}
