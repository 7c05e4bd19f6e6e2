/** The benchmark of the page: peers inside it, rows as they come, what is saved, and how it is stopped. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { expect, it } from 'vitest'
import { openHouse } from '../support/house.ts'
import { problemsOf } from '../support/jsonSchema.ts'

const house = openHouse({ browser: 'file' })
const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../docs/bench-result.schema.json'), 'utf8'),
)

it('measures with peers inside the page, shows right rows, saves them, and ends when it is stopped', async () => {
  const tab = await house.tabs.open('/bench')
  await tab.waitFor('empty', 1)
  expect((await tab.joinUrl()).pathname).toMatch(/^\/bench\//)
  await tab.at('max-bytes').selectOption({ label: '1 KiB' })
  await tab.at('iterations').fill('2')
  await tab.at('run').click()
  await tab.waitFor('finished', 4, 30_000)

  // Three sizes, each by auto, a star and send-to-all.
  expect(await tab.at('bench-rows').getAttribute('data-rows')).toBe('9')
  expect(await tab.at('verify').getAttribute('data-ok')).toBe('true')
  expect(await tab.at('busbw-plot').count()).toBe(1)
  const saved = tab.page.waitForEvent('download')
  await tab.at('export-json').click()
  const result = JSON.parse(readFileSync(await (await saved).path(), 'utf8'))
  expect(problemsOf(result, schema)).toEqual([])
  expect(result.results).toHaveLength(9)

  await tab.page.evaluate(axe.source)
  const { violations } = (await tab.page.evaluate('axe.run()')) as {
    violations: { id: string; impact: string }[]
  }
  expect(
    violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id),
  ).toEqual([])

  await tab.at('max-bytes').selectOption({ label: '4 MiB' })
  await tab.at('iterations').fill('1000')
  await tab.at('run').click()
  await tab.waitFor('running', 4)
  await tab.at('stop').click()
  await tab.waitFor('stopped', 4, 20_000)
})
