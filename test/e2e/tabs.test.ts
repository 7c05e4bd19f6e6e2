/** The page in real tabs of one browser: groups of any size, reloads, tabs that die. */
import { describe, expect, it } from 'vitest'
import { openHouse } from '../support/house.ts'
import type { Tab } from '../support/pages.ts'

const house = openHouse()

/** What all tabs agree on: a roster without ghosts. */
async function expectGroup(tabs: readonly Tab[]): Promise<void> {
  const size = tabs.length
  await Promise.all(tabs.map((tab) => tab.waitForGroup(size)))
  const rosters = await Promise.all(tabs.map((tab) => tab.roster()))
  for (const roster of rosters) expect(roster).toEqual(rosters[0])
  expect(rosters[0]!.map(({ rank }) => rank)).toEqual(Array.from({ length: size }, (_, rank) => rank))
  expect(new Set(rosters[0]!.map(({ name }) => name)).size).toBe(size)
  const ranks = await Promise.all(tabs.map(async (tab) => (await tab.look()).rank))
  expect(new Set(ranks).size).toBe(size)
}

describe.each([2, 3, 5, 7, 8])('P = %i', (size) => {
  it('runs from any tab, right on all', { timeout: 90_000 }, async () => {
    const tabs = await house.tabs.openRoom(size)
    await expectGroup(tabs)
    const rounds = Math.ceil(Math.log2(size))
    await tabs[0]!.run()
    await tabs.at(-1)!.set({ size: '425 B', data: 'real', r: rounds })
    await tabs.at(-1)!.run()
    await Promise.all(tabs.map((tab) => tab.expectRight()))
    expect(await tabs[0]!.words('verify')).toContain(`${size} of ${size} peers agree, 0 wrong elements.`)
  })
})

it('a reloaded tab comes back as itself, without a ghost', { timeout: 90_000 }, async () => {
  const tabs = await house.tabs.openRoom(3)
  await expectGroup(tabs)
  const names = (await tabs[0]!.roster()).map(({ name }) => name).sort()
  for (const tab of tabs) {
    await tab.page.reload()
    await expectGroup(tabs)
    expect((await tabs[0]!.roster()).map(({ name }) => name).sort()).toEqual(names)
  }
  await tabs[1]!.run()
})

it('a duplicated tab is a peer of its own', { timeout: 90_000 }, async () => {
  const [first] = await house.tabs.openRoom(2)
  // What "duplicate tab" does: the copy begins with the session storage of the original.
  const storage = await first!.page.evaluate(() => JSON.stringify(sessionStorage))
  const { pathname } = await first!.joinUrl()
  const copy = await house.tabs.openBlank()
  await copy.page.evaluate((stored) => {
    for (const [key, value] of Object.entries(JSON.parse(stored) as Record<string, string>))
      sessionStorage.setItem(key, value)
  }, storage)
  await copy.page.goto(house.server.url + pathname)
  await copy.waitForGroup(3)
  await expectGroup(house.tabs.pages())
})

describe('a tab that ends in the middle of a run', () => {
  const ends: Record<string, (tab: Tab) => Promise<void>> = {
    'is closed': (tab) => tab.page.close(),
    crashes: async (tab) => {
      house.tabs.expectProblem(/^crash/)
      const session = await tab.page.context().newCDPSession(tab.page)
      // Never answered: the renderer is gone.
      session.send('Page.crash').catch(() => {})
    },
  }

  it.each(Object.keys(ends))(
    'and %s is named to all others, who go on without it',
    { timeout: 90_000 },
    async (how) => {
      const tabs = await house.tabs.openRoom(4)
      const [caller, victim, ...others] = tabs as [Tab, Tab, ...Tab[]]
      const survivors = [caller, ...others]
      const { name } = (await caller.roster())[(await victim.look()).rank]!
      await caller.set({ size: '16 MiB', algorithm: 'ring' })
      await caller.at('run').click()
      await victim.waitFor('running')
      await expect
        .poll(async () => Number(await caller.at('progress').getAttribute('aria-valuenow')), {
          timeout: 20_000,
        })
        .toBeGreaterThan(10)
      await ends[how]!(victim)
      // All know within seconds; the call that was going on may first end among those who are left.
      await Promise.all(
        survivors.map((tab) =>
          tab.page.locator('html[data-p="3"]').waitFor({ state: 'attached', timeout: 5000 }),
        ),
      )
      await Promise.all(
        survivors.map((tab) => tab.page.locator('[data-testid="banner"]').waitFor({ timeout: 60_000 })),
      )
      for (const tab of survivors) {
        expect(await tab.at('banner').getAttribute('data-code')).toBe('PEER_LOST')
        expect(await tab.words('banner')).toContain(name)
      }
      for (const tab of survivors) await tab.at('banner').getByRole('button', { name: 'Dismiss' }).click()
      await expectGroup(survivors)
      await caller.set({ size: '1 MiB' })
      await caller.run()
      expect(await caller.words('verify')).toContain('3 of 3 peers agree, 0 wrong elements.')
    },
  )
})
