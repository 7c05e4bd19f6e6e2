/** Starts the browsers of the tests. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type LaunchOptions } from 'playwright-core'
import { requireChromium } from '../../client/cli/chromiumPath.ts'
import { chromiumFlags } from './chromium.ts'

export interface Running {
  readonly browser: Browser
  readonly context: BrowserContext
  close(): Promise<void>
}

/** A Chromium as Playwright starts it: every tab counts as visible, nothing is throttled, pop-ups open. */
export async function launchChromium(options: LaunchOptions = {}): Promise<Running> {
  const browser = await chromium.launch({
    executablePath: requireChromium(),
    args: [...chromiumFlags],
    ...options,
  })
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  return { browser, context, close: () => browser.close() }
}

/**
 * A Chromium as people have it. Playwright's own switches turn off the pop-up blocker and the throttling of hidden
 * tabs, and it tells every tab that it is visible; a browser that it only connects to keeps all of that.
 */
export async function launchAsPeopleHaveIt(): Promise<Running> {
  const profile = mkdtempSync(join(tmpdir(), 'papilio-profile-'))
  const flags = [
    ...chromiumFlags,
    '--headless',
    '--no-default-browser-check',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    'about:blank',
  ]
  const child = spawn(requireChromium(), flags, { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  // 'close' and not 'exit': it comes when the last process that holds stderr is gone, so none writes to the profile
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const endpoint = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (data: Buffer) => {
      said += data.toString()
      const url = /ws:\/\/\S+/.exec(said)?.[0]
      if (url) resolve(url)
    })
    child.once('exit', (status) => reject(new Error(`Chromium ended with status ${status}: ${said}`)))
  })
  const browser = await chromium.connectOverCDP(endpoint, { noDefaults: true })
  return {
    browser,
    context: browser.contexts()[0]!,
    async close() {
      await browser.close()
      // the whole process group that this started: the helpers of a browser outlive it and go on writing
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      await ended
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
