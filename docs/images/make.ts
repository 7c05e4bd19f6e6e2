/**
 * Pictures of the real page, made by a real run of seven peers.
 *
 *   npm run images              writes docs/images/ready.png, the picture of the README
 *   npm run images -- FOLDER    writes every state, on desktop and phone, light and dark, to look at
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { launchChromium } from '../../test/support/launch.ts'
import { type Tab, Tabs } from '../../test/support/pages.ts'
import { startServer } from '../../test/support/server.ts'

const [folder] = process.argv.slice(2)
const server = await startServer()
const { browser, close } = await launchChromium()

const screens = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }
type Shot = (name: string, tab: Tab) => Promise<void>

async function withTabs(
  screen: keyof typeof screens,
  colorScheme: 'light' | 'dark',
  act: (tabs: Tabs) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({
    viewport: screens[screen],
    deviceScaleFactor: screen === 'phone' ? 2 : 1,
    colorScheme,
    reducedMotion: 'reduce',
  })
  const tabs = new Tabs(context, server)
  await act(tabs)
  await context.close()
  if (tabs.problems().length > 0) throw new Error(tabs.problems().join('\n'))
}

async function run(tab: Tab): Promise<void> {
  await tab.begin('sweep', 90_000)
  await tab.run()
  // At the end of the run's replay the picture comes to rest.
  await tab.at('playback').locator('[aria-label="Last"]:disabled').waitFor()
}

async function everyState(tabs: Tabs, shot: Shot): Promise<void> {
  const tab = await tabs.open()
  await tab.waitFor('empty')
  await shot('empty', tab)
  await tab.at('add-peers').click()
  await tab.waitFor('connecting').catch(() => {})
  await shot('connecting', tab)
  await tab.waitForGroup(7)
  await shot('ready', tab)
  await tab.set({ size: '64 MiB' })
  await tab.at('run').click()
  await tab.waitFor('running')
  await tab.page.waitForTimeout(1500)
  await shot('running', tab)
  await tab.at('stop').click()
  await tab.waitForGroup(7)
  await shot('stopped', tab)
  await tab.set({ size: '1 MiB' })
  await run(tab)
  await shot('done', tab)
  const unknown = await tabs.open('/j/no-such-room')
  await unknown.page.locator('html[data-app-state^="room-"]').waitFor({ state: 'attached' })
  await shot('refused', unknown)
}

if (folder === undefined) {
  await withTabs('desktop', 'light', async (tabs) => {
    const tab = await tabs.open()
    // Tall enough for the whole timetable.
    await tab.page.setViewportSize({ width: 1440, height: 1240 })
    await tab.at('add-peers').click()
    await tab.waitForGroup(7)
    await run(tab)
    await tab.page.screenshot({ path: join(import.meta.dirname, 'ready.png') })
  })
} else {
  mkdirSync(folder, { recursive: true })
  for (const screen of ['desktop', 'phone'] as const)
    for (const theme of ['light', 'dark'] as const)
      await withTabs(screen, theme, (tabs) =>
        everyState(tabs, async (name, tab) => {
          const path = join(folder, `${name}-${screen}-${theme}.png`)
          await tab.page.screenshot({ path, fullPage: true })
          console.log(path)
        }),
      )
}

await close()
await server.close()
