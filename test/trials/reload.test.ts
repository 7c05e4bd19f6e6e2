/** A tab that is reloaded again and again. */
import { expect, it } from 'vitest'
import { openHouse } from '../support/house.ts'

const house = openHouse()

it('is in the roster once, at its old rank, 3 s after each of ten reloads, and the op after it is right', async () => {
  const tabs = await house.tabs.openRoom(3)
  const [first, restless] = tabs as [(typeof tabs)[0], (typeof tabs)[0]]
  const before = await first.roster()
  for (let n = 0; n < 10; n++) {
    const begin = performance.now()
    await restless.page.reload()
    await Promise.all(tabs.map((tab) => tab.waitForGroup(3)))
    expect(performance.now() - begin).toBeLessThan(3000)
    for (const tab of tabs) expect(await tab.roster()).toEqual(before)
    await restless.run()
  }
})
