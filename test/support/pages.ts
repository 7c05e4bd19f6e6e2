/**
 * The page as tests see it: tabs of a real browser on a real server, looked at from outside through the hooks of the
 * page (`data-app-state`, `data-testid`). A tab with an uncaught error, a console error or a request to a foreign host
 * fails its test.
 */
import type { BrowserContext, Locator, Page } from 'playwright-core'
import type { RunSpec } from '../../client/session/runSpec.ts'

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

/** Keeps every value of `data-app-state`: a state of a few milliseconds is missed by whoever only looks now and then. */
const rememberStates = `{
  const states = (globalThis.appStates = [])
  new MutationObserver((records) => {
    for (const { target } of records) {
      const state = target.dataset?.appState
      if (state && state !== states.at(-1)) states.push(state)
    }
  }).observe(document, { attributes: true, attributeFilter: ['data-app-state'], subtree: true })
}`

export interface RunSettings {
  size?: string
  algorithm?: string
  r?: number | 'auto'
  data?: 'whole' | 'real'
  dtype?: RunSpec['dtype']
  op?: RunSpec['op']
  repeats?: number
}

export class Tabs {
  readonly #context: BrowserContext
  readonly #server: { url: string }
  readonly #problems: string[] = []
  readonly #expected: RegExp[] = []
  readonly #ready: Promise<unknown>

  constructor(context: BrowserContext, server: { url: string }) {
    this.#context = context
    this.#server = server
    this.#ready = context.addInitScript({ content: watchFromInside + rememberStates })
    // Pages that the page itself opens are watched as well.
    context.on('page', this.#watch)
  }

  /** Runs a classic script in every tab before anything of the page. */
  async addScript(content: string): Promise<void> {
    await this.#context.addInitScript({ content })
  }

  /**
   * Opens a tab on the server's origin without the page. It is a real answer of the server: Chromium forbids pages that a
   * test makes up to reach local addresses.
   */
  async openBlank(): Promise<Tab> {
    await this.#context.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
    return this.open('/livez')
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
    const { pathname } = await first.joinUrl()
    const others = await Promise.all(Array.from({ length: count - 1 }, () => this.open(pathname)))
    const tabs = [first, ...others]
    await Promise.all(tabs.map((tab) => tab.waitForGroup(count)))
    return tabs
  }

  /** Tabs on the server, those included that the page has opened. */
  pages(): Tab[] {
    const ours = this.#context.pages().filter((page) => page.url().startsWith(this.#server.url))
    return ours.map((page) => new Tab(page))
  }

  /** The test provokes a problem that this pattern describes. */
  expectProblem(pattern: RegExp): void {
    this.#expected.push(pattern)
  }

  problems(): string[] {
    return this.#problems.filter((problem) => !this.#expected.some((pattern) => pattern.test(problem)))
  }

  /** The problems since the last call. */
  takeProblems(): string[] {
    const problems = this.problems()
    this.#problems.length = 0
    return problems
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

  /** The link of the room; it may name another address of the server than the one that the tests use. */
  async joinUrl(): Promise<URL> {
    const link = this.at('join-url').first()
    await link.waitFor({ state: 'attached' })
    return new URL((await link.getAttribute('href')) ?? '')
  }

  /** Sets what is given, as a person does: in the fields of the run panel. */
  async set({ size, algorithm, dtype, repeats, ...choices }: RunSettings): Promise<void> {
    if (size !== undefined) {
      await this.at('size').fill(size)
      await this.at('size').press('Enter')
    }
    if (algorithm !== undefined) await this.at('algo').selectOption(algorithm)
    if (dtype !== undefined) await this.at('dtype').selectOption(dtype)
    if (repeats !== undefined) await this.at('repeats').fill(String(repeats))
    for (const [testId, value] of Object.entries(choices))
      await this.at(testId).locator(`input[value="${value}"]`).check()
  }

  /** States that the page has been in, in order. */
  async states(): Promise<string[]> {
    return this.page.evaluate(() => (globalThis as unknown as { appStates: string[] }).appStates)
  }

  /** Presses a button that begins a run, and waits until it has ended in one way or the other. */
  async begin(testId = 'run', timeout = 60_000): Promise<void> {
    const before = (await this.states()).length
    await this.at(testId).click()
    const deadline = Date.now() + timeout
    for (;;) {
      const since = (await this.states()).slice(before)
      if (since.includes('running') && since.at(-1) !== 'running') return
      if (Date.now() > deadline)
        throw new Error(`The run did not end: ${JSON.stringify([since, await this.look()])}`)
      await this.page.waitForTimeout(20)
    }
  }

  /** Runs, and waits for a verified result that is right. */
  async run(timeout?: number): Promise<void> {
    await this.begin('run', timeout)
    await this.expectRight()
  }

  async expectRight(): Promise<void> {
    const verdict = this.page.locator('[data-testid="verify"][data-ok="true"]')
    await verdict.waitFor({ timeout: 20_000 }).catch(async (cause: unknown) => {
      throw new Error(`No right result: ${JSON.stringify(await this.look())}`, { cause })
    })
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
