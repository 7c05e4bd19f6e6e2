/** A browser as people have it: tabs behind the front one are hidden and throttled, and pop-ups are blocked. */
import { describe, expect, it } from 'vitest'
import { openHouse } from '../support/house.ts'
import { launchAsPeopleHaveIt } from '../support/launch.ts'
import type { Tab } from '../support/pages.ts'

const house = openHouse({ launch: launchAsPeopleHaveIt })

/** A group with hidden tabs works, and the page says that it could be faster. */
const waitForGroup = (tab: Tab, size: number) =>
  tab.page
    .locator(`html[data-p="${size}"]:is([data-app-state="ready"], [data-app-state="degraded"])`)
    .waitFor({ state: 'attached', timeout: 30_000 })

it('hidden tabs form a group, are marked, and run ten times without waiting for throttled timers', {
  timeout: 120_000,
}, async () => {
  // Two tabs opened behind a third one, hidden before they had joined.
  const front = await house.tabs.open('/')
  const { pathname } = await front.joinUrl()
  for (let n = 0; n < 2; n++) await house.tabs.open(pathname)
  await front.page.bringToFront()
  const tabs = house.tabs.pages()
  for (const tab of tabs) await waitForGroup(tab, 3)
  const states = await Promise.all(tabs.map((tab) => tab.page.evaluate(() => document.visibilityState)))
  expect(states.filter((state) => state === 'hidden')).toHaveLength(2)
  await expect.poll(() => front.words('roster'), { timeout: 10_000 }).toContain('hidden tab')
  await front.set({ repeats: 10 })
  await front.run(60_000)
  // Timers of hidden tabs fire about once a second: a single one on the way would show.
  const seconds = Number(await front.at('r-best').getAttribute('data-measured'))
  expect(seconds).toBeLessThan(0.8)
  await waitForGroup(front, 3)
})

describe('pop-ups', () => {
  it('that are blocked are counted, and peers inside the page fill the group', {
    timeout: 90_000,
  }, async () => {
    const tab = await house.tabs.open('/')
    await tab.waitFor('empty')
    await tab.at('open-tabs').click()
    const banner = tab.page.locator('[data-testid="banner"][data-code="POPUP_BLOCKED"]')
    await banner.waitFor()
    expect(await tab.words('banner')).toContain('Your browser opened 1 of 6 tabs.')
    await tab.page.bringToFront()
    await tab.at('rescue-add').click()
    await waitForGroup(tab, 7)
    await tab.run()
    expect(await tab.words('verify')).toContain('7 of 7 peers agree, 0 wrong elements.')
  })
})
