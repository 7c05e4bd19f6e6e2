/** The page in real tabs of one browser: a group that grows and shrinks, reloads, tabs that die. The tests go on with each other's tabs. */
import { beforeAll, describe, expect, it } from 'vitest'
import { openHouse } from '../support/house.ts'
import type { Tab } from '../support/pages.ts'

const house = openHouse({ browser: 'file' })
let tabs: Tab[] = []

beforeAll(() =>
  house.tabs.addScript(`{
    const connections = (globalThis.connections = [])
    globalThis.RTCPeerConnection = class RTCPeerConnection extends globalThis.RTCPeerConnection {
      constructor(...parameters) {
        super(...parameters)
        connections.push(this)
      }
    }
  }`),
)

/** What all tabs agree on: a roster without ghosts. */
async function expectGroup(): Promise<void> {
  const size = tabs.length
  await Promise.all(tabs.map((tab) => tab.waitForGroup(size)))
  const rosters = await Promise.all(tabs.map((tab) => tab.roster()))
  for (const roster of rosters) expect(roster).toEqual(rosters[0])
  expect(rosters[0]!.map(({ rank }) => rank)).toEqual(Array.from({ length: size }, (_, rank) => rank))
  expect(new Set(rosters[0]!.map(({ name }) => name)).size).toBe(size)
  const ranks = await Promise.all(tabs.map(async (tab) => (await tab.look()).rank))
  expect(new Set(ranks).size).toBe(size)
}

async function openUpTo(size: number): Promise<void> {
  tabs = tabs.length === 0 ? [await house.tabs.open()] : tabs
  const { pathname } = await tabs[0]!.joinUrl()
  const more = Array.from({ length: size - tabs.length }, () => house.tabs.open(pathname))
  tabs = [...tabs, ...(await Promise.all(more))]
  await expectGroup()
}

async function closeDownTo(size: number): Promise<void> {
  const gone = tabs.slice(size)
  tabs = tabs.slice(0, size)
  await Promise.all(gone.map((tab) => tab.page.close()))
  await expectGroup()
}

describe.each([2, 3, 5, 7, 8])('P = %i', (size) => {
  it('runs from any tab, right on all', { timeout: 60_000 }, async () => {
    await openUpTo(size)
    await tabs[0]!.set({ size: '1 MiB', r: 'auto' })
    await tabs[0]!.run()
    await tabs.at(-1)!.set({ size: '425 B', data: 'real', r: Math.ceil(Math.log2(size)) })
    await tabs.at(-1)!.run()
    await Promise.all(tabs.map((tab) => tab.expectRight()))
    expect(await tabs[0]!.words('verify')).toContain(`${size} of ${size} peers agree, 0 wrong elements.`)
  })
})

it('tabs that are closed between runs are missed by nobody', async () => {
  await closeDownTo(4)
  for (const tab of tabs) expect((await tab.look()).banner).toBeNull()
})

describe('a tab that ends in the middle of a run', () => {
  beforeAll(() => expect(tabs).toHaveLength(4))

  /** Begins a run that takes seconds, and waits until it is well under way. */
  async function begin(caller: Tab): Promise<void> {
    await caller.set({ size: '16 MiB', algorithm: 'ring' })
    await caller.at('run').click()
    await caller.waitFor('running')
    await expect
      .poll(async () => Number(await caller.at('progress').getAttribute('aria-valuenow')), {
        timeout: 20_000,
      })
      .toBeGreaterThan(10)
  }

  /** All who are left name the one that is gone, and show that they go on. */
  async function expectLoss(name: string, timeout: number): Promise<void> {
    await Promise.all(
      tabs.map((tab) =>
        tab.page.locator('[data-testid="banner"][data-code="PEER_LOST"]').waitFor({ timeout }),
      ),
    )
    for (const tab of tabs) expect(await tab.words('banner')).toContain(`${name} (rank `)
  }

  async function expectNextRun(): Promise<void> {
    const caller = tabs.at(-1)!
    const size = tabs.length
    await caller.set({ size: '1 MiB' })
    await caller.run()
    expect(await caller.words('verify')).toContain(`${size} of ${size} peers agree, 0 wrong elements.`)
    expect(await caller.at('banner').count()).toBe(0)
  }

  it('and is closed is named to all others within 2 s, who finish without it', {
    timeout: 90_000,
  }, async () => {
    const [caller, victim, ...others] = tabs as [Tab, Tab, ...Tab[]]
    const { name } = (await caller.roster())[(await victim.look()).rank]!
    await begin(caller)
    tabs = [caller, ...others]
    await victim.page.close()
    await expectLoss(name, 2000)
    // While it goes on, nothing on the page is about four any more.
    for (const tab of tabs) {
      expect(await tab.look()).toMatchObject({ state: 'degraded', size: 3 })
      expect(await tab.words('run-size')).toBe('3')
      expect(await tab.at('schedule').getAttribute('data-size')).toBe('3')
      expect(await tab.words('time-predicted')).toBe('–')
    }
    await Promise.all(tabs.map((tab) => tab.waitForGroup(3, 60_000)))
    for (const tab of tabs) {
      expect(await tab.words('banner')).toContain('still here finished it together')
      await tab.expectRight()
      expect(await tab.words('verify')).toContain('3 of 3 peers agree, 0 wrong elements.')
      expect(await tab.words('verify')).toContain('3 vectors of 4 are in it.')
    }
    await expectNextRun()
  })

  it('and crashes is named as well, and the run can be stopped', { timeout: 90_000 }, async () => {
    await openUpTo(4)
    const [caller, victim, ...others] = tabs as [Tab, Tab, ...Tab[]]
    const { name } = (await caller.roster())[(await victim.look()).rank]!
    await begin(caller)
    house.tabs.expectProblem(/^crash/)
    const session = await victim.page.context().newCDPSession(victim.page)
    tabs = [caller, ...others]
    // Never answered: the renderer is gone, and no channel is closed.
    session.send('Page.crash').catch(() => {})
    await expectLoss(name, 10_000)
    await caller.at('stop').click()
    await Promise.all(tabs.map((tab) => tab.waitForGroup(3, 10_000)))
    for (const tab of tabs) expect(await tab.at('banner').getAttribute('data-code')).toBe('STOPPED')
    await expectNextRun()
    await victim.page.close()
  })

  it.each(['reloaded', 'closed'])(
    'and led the run as rank 0 and is %s: the others finish it',
    {
      timeout: 90_000,
    },
    async (end) => {
      await openUpTo(4)
      const [leader, caller, ...others] = tabs as [Tab, Tab, ...Tab[]]
      const { name } = (await caller.roster())[0]!
      expect((await leader.look()).rank).toBe(0)
      await begin(caller)
      tabs = [caller, ...others]
      if (end === 'closed') await leader.page.close()
      else await leader.page.reload()
      await expectLoss(name, 10_000)
      if (end === 'reloaded') tabs = [leader, ...tabs]
      await Promise.all(tabs.map((tab) => tab.waitForGroup(tabs.length, 60_000)))
      for (const tab of [caller, ...others]) {
        await tab.expectRight()
        expect(await tab.words('verify')).toContain('3 of 3 peers agree, 0 wrong elements.')
      }
      await expectGroup()
      await expectNextRun()
    },
  )
})

it('a page that lost all its links takes its seat again and says so', { timeout: 60_000 }, async () => {
  await openUpTo(3)
  const [first, remote] = tabs as [Tab, Tab]
  const before = await first.roster()
  const { epoch } = await first.look()
  // As when its computer changes the network: only the server still reaches it.
  await remote.page.evaluate(() => {
    for (const connection of (globalThis as unknown as { connections: RTCPeerConnection[] }).connections)
      connection.close()
  })
  await remote.page.locator('[data-testid="banner"][data-code="REMOVED"]').waitFor({ timeout: 20_000 })
  await expect.poll(async () => (await first.look()).epoch, { timeout: 20_000 }).toBeGreaterThan(epoch + 1)
  await expectGroup()
  expect(await first.roster()).toEqual(before)
  await remote.run()
})

it('a reloaded tab comes back as itself, without a ghost', { timeout: 60_000 }, async () => {
  const before = await tabs[0]!.roster()
  for (const tab of tabs) {
    await tab.page.reload()
    await expectGroup()
    expect(await tabs[0]!.roster()).toEqual(before)
  }
  await tabs[1]!.run()
})

it('a duplicated tab is a peer of its own', { timeout: 60_000 }, async () => {
  // What "duplicate tab" does: the copy begins with the session storage of the original.
  const storage = await tabs[0]!.page.evaluate(() => JSON.stringify(sessionStorage))
  const { pathname } = await tabs[0]!.joinUrl()
  const copy = await house.tabs.openBlank()
  await copy.page.evaluate((stored) => {
    for (const [key, value] of Object.entries(JSON.parse(stored) as Record<string, string>))
      sessionStorage.setItem(key, value)
  }, storage)
  await copy.page.goto(house.server.url + pathname)
  tabs = [...tabs, copy]
  await expectGroup()
})
