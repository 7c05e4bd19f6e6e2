/** Peers that learn together: two tabs and a peer inside one of them. */
import axe from 'axe-core'
import { expect, it } from 'vitest'
import { openHouse } from '../support/house.ts'
import type { Tab } from '../support/pages.ts'

const house = openHouse({ browser: 'file' })

const scoreOf = async (tab: Tab, testId: string) => Number(await tab.at(testId).getAttribute('data-value'))
const toTheEnd = (tabs: readonly Tab[], size: number) =>
  Promise.all(tabs.map((tab) => tab.waitFor('finished', size, 60_000)))

it('train a model of all digits, of which each has seen a few, to the same bits; and all of them name one', async () => {
  const first = await house.tabs.open('/learn')
  await first.waitFor('empty', 1)
  const { pathname } = await first.joinUrl()
  expect(pathname).toMatch(/^\/learn\//)
  const second = await house.tabs.open(pathname)
  await first.at('add-peer').click()
  const tabs = [first, second]
  await Promise.all(tabs.map((tab) => tab.waitForGroup(3)))
  await second.at('rounds').fill('6')
  await second.at('train').click()
  await toTheEnd(tabs, 3)

  const hashes = await Promise.all(tabs.map((tab) => tab.words('hash')))
  expect(hashes[0]).toMatch(/^[0-9a-f]{16}$/)
  expect(hashes[1]).toBe(hashes[0])
  for (const tab of tabs) {
    // Alone a peer knows four digits of ten. Seen: 0.87 together, 0.39 alone.
    expect(await scoreOf(tab, 'score-alone')).toBeLessThan(0.45)
    expect(await scoreOf(tab, 'score-averaged')).toBeGreaterThan(0.75)
    const sent = await tab.page
      .locator('[data-testid="traffic"] tr[data-bytes]')
      .evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset.bytes)))
    // A model of 50 890 weights, at least half of it in each round.
    expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(6 * 0.5 * 4 * 50_890)
  }

  await first.at('example-1').click()
  const answers = first.at('answers')
  await expect.poll(() => answers.getAttribute('data-count'), { timeout: 10_000 }).toBe('3')
  expect(await first.at('answer-alone').count()).toBe(3)
  expect(await first.at('answer-together').getAttribute('data-said')).toBe('1')
})

it('go on when a tab closes in the middle, and take up one that comes late', async () => {
  const [first, second] = house.tabs.pages()
  await first!.at('data-iris').check({ force: true })
  await first!.at('rounds').fill('60')
  await first!.at('train').click()
  await second!.page.locator('[data-testid="rounds-done"]:not([data-rounds="0"])').waitFor()
  const { pathname } = new URL(second!.page.url())
  await second!.page.close()
  await first!.at('gone').waitFor()
  const third = await house.tabs.open(pathname)
  await toTheEnd([first!, third], 3)
  expect(await third.words('hash')).toBe(await first!.words('hash'))
  expect(await third.words('learn-status')).toMatch(/This page came late, and got the model after round \d+/)
  await first!.at('leave').click()
  await first!.waitFor('left')
})

it('are there for everybody: no finding of axe, in light and dark', async () => {
  const [, tab] = house.tabs.pages()
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab!.page.emulateMedia({ colorScheme })
    await tab!.page.evaluate(axe.source)
    const found = await tab!.page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: unknown[] }> } }
      return JSON.stringify((await axe.run()).violations.map(summary), undefined, 1)
      function summary(violation: unknown) {
        const { id, nodes } = violation as { id: string; nodes: { html: string }[] }
        return { id, nodes: nodes.map(({ html }) => html.slice(0, 200)) }
      }
    })
    expect(found).toBe('[]')
  }
})
