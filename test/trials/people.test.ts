/** A browser as people have it: hidden tabs are throttled, and a pop-up takes the storage of its opener along. */
import { expect, it } from 'vitest'
import { openHouse } from '../support/house.ts'
import { launchAsPeopleHaveIt } from '../support/launch.ts'
import type { Tab } from '../support/pages.ts'

const house = openHouse({ launch: launchAsPeopleHaveIt })

/** A group with hidden tabs works, and the page says that it could be faster. */
const waitForGroup = (tab: Tab, size: number) =>
  tab.page
    .locator(`html[data-p="${size}"]:is([data-app-state="ready"], [data-app-state="degraded"])`)
    .waitFor({ state: 'attached', timeout: 30_000 })

async function secondsOfTenRuns(tab: Tab): Promise<number> {
  await tab.set({ size: '8 MiB', repeats: 10 })
  const begin = performance.now()
  await tab.run(120_000)
  return (performance.now() - begin) / 1000
}

it('tabs that were hidden for six minutes are all there, and ten ops of 8 MB take less than twice as long', async () => {
  const front = await house.tabs.open('/')
  const { pathname } = await front.joinUrl()
  for (let n = 0; n < 2; n++) await house.tabs.open(pathname)
  await front.page.bringToFront()
  for (const tab of house.tabs.pages()) await waitForGroup(tab, 3)
  const before = await secondsOfTenRuns(front)
  const roster = (await front.roster()).map(({ name }) => name)
  await front.page.waitForTimeout(6 * 60_000)
  const states = await Promise.all(
    house.tabs.pages().map((tab) => tab.page.evaluate(() => document.visibilityState)),
  )
  expect(states.filter((state) => state === 'hidden')).toHaveLength(2)
  await waitForGroup(front, 3)
  const after = await secondsOfTenRuns(front)
  console.log(`ten ops before ${before.toFixed(2)} s, after six minutes ${after.toFixed(2)} s`)
  expect(after).toBeLessThan(2 * before)
  expect((await front.roster()).map(({ name }) => name)).toEqual(roster)
})

it('a second tab of the window and a duplicate of the first one are ranks of their own, and all pairs pass data', async () => {
  const first = await house.tabs.open('/')
  await first.waitFor('empty')
  const { pathname } = await first.joinUrl()
  const { name } = (await first.roster())[0]!
  await house.tabs.open(pathname)
  for (const tab of house.tabs.pages()) await waitForGroup(tab, 2)
  // A tab that a page opens begins with a copy of its session storage, as a duplicated one does.
  const devtools = await first.page.context().newCDPSession(first.page)
  await first.page.bringToFront()
  await devtools.send('Runtime.evaluate', { expression: 'void open(location.href)', userGesture: true })
  await waitForGroup(first, 3)
  const tabs = house.tabs.pages()
  expect(tabs).toHaveLength(3)
  for (const tab of tabs) await waitForGroup(tab, 3)
  const ranks = await Promise.all(tabs.map(async (tab) => (await tab.look()).rank))
  expect([...ranks].sort()).toEqual([0, 1, 2])
  const roster = await first.roster()
  expect(new Set(roster.map((row) => row.name)).size).toBe(3)
  expect(roster[(await first.look()).rank]!.name).toBe(name)
  // In one step every rank sends to every other.
  await first.page.bringToFront()
  await first.set({ size: '1 MiB', algorithm: 'one-shot' })
  await first.run()
  expect(await first.words('verify')).toContain('3 of 3 peers agree, 0 wrong elements.')
})
