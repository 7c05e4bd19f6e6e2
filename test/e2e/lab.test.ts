/** A developer alone: opens the page, adds six peers, runs, looks, changes things. One page with seven peers for all. */
import type { Download, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../shared/collective/trace.ts'
import { openHouse } from '../support/house.ts'
import type { Tab } from '../support/pages.ts'

const house = openHouse({ browser: 'file' })
let tab: Tab

const numbers = async (page: Page, selector: string, attribute: string): Promise<number[]> =>
  page
    .locator(selector)
    .evaluateAll((all, name) => all.map((each) => Number(each.getAttribute(name))), attribute)

async function readJson(download: Download): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}

describe('alone', () => {
  it('is interactive at once, says what it is, and why nothing can run yet', async () => {
    tab = await house.tabs.open('/')
    await tab.waitFor('empty', 1, 5000)
    expect(await tab.at('run').isDisabled()).toBe(true)
    expect(await tab.words('run-reason')).toBe('An allreduce needs at least two peers. Add peers first.')
    expect(await tab.at('add-peers').isEnabled()).toBe(true)
  })

  it('plays a simulated schedule of seven ranks, labelled as such', async () => {
    const schedule = tab.at('schedule')
    expect(await schedule.getAttribute('data-size')).toBe('7')
    expect(await schedule.textContent()).toContain('Simulation')
    const label = schedule.getByTestId('schedule-step')
    const playback = tab.at('playback')
    await playback.getByLabel('speed').selectOption('4')
    await playback.getByRole('button', { name: /play/i }).click()
    const total = Number(await label.getAttribute('data-total'))
    await expect.poll(() => label.getAttribute('data-step'), { timeout: 15_000 }).toBe(String(total))
  })
})

it.each([320, 390, 768, 1024, 1152, 1280, 1366, 1440, 1920])(
  'no control covers another at %i pixels',
  async (width) => {
    await tab.page.setViewportSize({ width, height: 900 })
    const covered = await tab.page.evaluate(() =>
      [...document.querySelectorAll('button, input, select, .segment')].flatMap((control) => {
        if (!control.checkVisibility({ visibilityProperty: true })) return []
        control.scrollIntoView({ block: 'center' })
        const { x, y, width, height } = control.getBoundingClientRect()
        const top = document.elementFromPoint(x + width / 2, y + height / 2)
        const isReached = control.contains(top) || top?.closest('label')?.contains(control)
        return isReached ? [] : [`${control.outerHTML.slice(0, 120)} is under ${top?.outerHTML.slice(0, 80)}`]
      }),
    )
    await tab.page.setViewportSize({ width: 1440, height: 900 })
    expect(covered).toEqual([])
  },
)

describe('seven peers in one page', () => {
  beforeAll(() => {
    expect(tab).toBeDefined()
  })

  it('are ready in less than 15 s after the click on Add 6 peers', async () => {
    const begin = performance.now()
    await tab.at('add-peers').click()
    await tab.waitForGroup(7, 15_000)
    expect(performance.now() - begin).toBeLessThan(15_000)

    const roster = await tab.roster()
    expect(roster.map(({ rank }) => rank)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(new Set(roster.map(({ name }) => name)).size).toBe(7)
    expect(roster.map(({ state }) => state)).toEqual(Array(7).fill('ready'))
  })

  it('know round trip and throughput of every link', async () => {
    await tab.at('tab-links').click()
    const cells = '[data-testid="link-cell"][data-rtt-ms]'
    await expect.poll(() => tab.page.locator(cells).count()).toBe(42)
    for (const attribute of ['data-rtt-ms', 'data-mbps'])
      for (const value of await numbers(tab.page, cells, attribute)) expect(value).toBeGreaterThan(0)
    await tab.at('tab-r').click()
  })

  it('run 1 MiB: progress never falls, no step is missed, and the result is right on all', async () => {
    await tab.page.evaluate(() => {
      const seen = { percent: [] as number[], labels: [] as string[] }
      Object.assign(globalThis, { seen })
      const look = () => {
        const progress = document.querySelector('[data-testid="progress"]')
        const label = document.querySelector('[data-testid="step-label"]')?.textContent ?? ''
        seen.percent.push(Number(progress?.getAttribute('aria-valuenow')))
        if (label !== seen.labels.at(-1)) seen.labels.push(label)
      }
      const line = document.querySelector('.progress-line')!
      new MutationObserver(look).observe(line, {
        attributes: true,
        characterData: true,
        childList: true,
        subtree: true,
      })
    })
    await tab.run()
    expect(await tab.words('verify')).toContain('7 of 7 peers agree, 0 wrong elements.')
    expect(Number(await tab.at('r-best').getAttribute('data-measured'))).toBeLessThan(3)
    const steps = Number(await tab.at('schedule').getAttribute('data-steps'))
    await expect
      .poll(() => tab.words('progress').then(() => tab.page.locator('.progress-line').textContent()))
      .toContain(`All ${steps} steps done`)
    const seen = await tab.page.evaluate(
      () => (globalThis as unknown as { seen: { percent: number[]; labels: string[] } }).seen,
    )
    expect(seen.percent).toEqual([...seen.percent].sort((a, b) => a - b))
    expect(seen.percent.at(-1)).toBe(100)
    const shown = seen.labels.filter((label) => label !== '')
    expect(shown).toEqual([
      ...Array.from({ length: steps }, (_, step) => `Step ${step + 1} of ${steps}`),
      `All ${steps} steps done`,
    ])
  })

  it('are right for rounded numbers, other types and operators, and sizes that seven does not divide', async () => {
    await tab.set({ data: 'real', size: '425 B' })
    await tab.run()
    await tab.set({ dtype: 'f64', op: 'mean', size: '1000 B' })
    await tab.run()
    await tab.set({ dtype: 'i32', op: 'max', size: '20 B' })
    await tab.run()
    for (const choice of [
      { dtype: 'f16', op: 'mean' },
      { dtype: 'i64', op: 'prod' },
      { dtype: 'u8', op: 'sum' },
    ] as const) {
      await tab.set({ ...choice, size: '2001 B' })
      await tab.run()
    }
    await tab.set({ dtype: 'f32', op: 'sum', data: 'whole', size: '0 B' })
    await tab.run()
    await tab.set({ algorithm: 'ring', size: '64 KiB' })
    await tab.run()
    await tab.set({ algorithm: 'auto' })
    await tab.run()
    await tab.set({ algorithm: 'butterfly', r: 'auto' })
  })

  it('measure every r, and mark the best', { timeout: 60_000 }, async () => {
    await tab.begin('sweep', 40_000)
    await tab.expectRight()
    const row = (r: number) =>
      tab.page.locator(`[data-testid="r-table"] [data-r="${r}"], tr[data-r="${r}"]`).first()
    expect(await tab.page.locator('tr[data-r]').count()).toBe(4)
    for (const r of [0, 1, 2, 3]) {
      expect(await row(r).locator('td').first().textContent()).toBe(String(6 - r))
      expect(Number(await row(r).getAttribute('data-measured'))).toBeGreaterThan(0)
      expect(Number(await row(r).getAttribute('data-predicted'))).toBeGreaterThan(0)
    }
    for (const mark of ['data-best-predicted', 'data-best-measured', 'data-auto'])
      expect(await tab.page.locator(`tr[data-r][${mark}="true"]`).count()).toBe(1)
    const fastest = await numbers(tab.page, 'tr[data-r]', 'data-measured')
    const marked = Number(await tab.page.locator('tr[data-best-measured="true"]').getAttribute('data-r'))
    expect(fastest[marked]).toBe(Math.min(...fastest))
  })

  it('get an r that never rises with the size: removed steps at 425 B, none at 4 MiB', async () => {
    const chosen: number[] = []
    for (const size of ['256 B', '425 B', '4 KiB', '16 KiB', '64 KiB', '256 KiB', '1 MiB', '4 MiB']) {
      await tab.set({ size })
      chosen.push(Number(await tab.at('r-best').getAttribute('data-r')))
      expect((await tab.words('why')).length).toBeGreaterThan(20)
    }
    expect(chosen).toEqual([...chosen].sort((a, b) => b - a))
    expect(chosen[1]).toBeGreaterThan(0)
    expect(chosen.at(-1)).toBe(0)
    await tab.set({ size: '64 KiB' })
  })

  it('lose candidates when all must hold the same bits', async () => {
    const note = (await tab.page.locator('.consistency').textContent()) ?? ''
    const [, left, all] = /(\d+) of the (\d+) candidates/.exec(note)!
    expect(Number(left)).toBeGreaterThan(0)
    expect(Number(left)).toBeLessThan(Number(all))
    await tab.at('identical').check()
    await tab.run()
    expect(await tab.at('verify').getAttribute('data-identical')).toBe('true')
    await tab.at('identical').uncheck()
  })

  it('show every message by keyboard and as a table', async () => {
    const schedule = tab.at('schedule')
    await schedule.getByRole('button', { name: 'as table' }).click()
    const table = schedule.locator('table')
    // P = 7, r = 0: in each of the 6 steps every rank sends one message.
    const steps = Number(await schedule.getAttribute('data-steps'))
    expect(await table.locator('tbody tr').count()).toBe(7 * steps)
    await schedule.getByRole('button', { name: 'as table' }).click()
  })

  it('step back through the finished run', async () => {
    await tab.run()
    const label = tab.at('schedule').getByTestId('schedule-step')
    const playback = tab.at('playback')
    await playback
      .getByRole('button', { name: /start|beginning|first/i })
      .first()
      .click()
    await expect.poll(() => label.getAttribute('data-step')).toBe('1')
    const next = playback.getByRole('button', { name: /next|forward/i }).first()
    await next.click()
    await next.click()
    await expect.poll(() => label.getAttribute('data-step')).toBe('3')
    expect(await tab.page.locator('[data-testid="my-steps"] [data-done="true"]').count()).toBe(2)
    await playback
      .getByRole('button', { name: /previous|back/i })
      .first()
      .click()
    await expect.poll(() => label.getAttribute('data-step')).toBe('2')
    expect(await tab.page.locator('[data-testid="my-steps"] [data-done="true"]').count()).toBe(1)
  })

  it('stop within a second when asked', async () => {
    await tab.set({ size: '16 MiB' })
    await tab.at('run').click()
    await tab.waitFor('running')
    // Measured in the page: what the browser of the tests needs for a click is not the page's.
    await tab.page.evaluate(() => {
      const seconds = { clicked: Number.NaN, stopped: Number.NaN }
      Object.assign(globalThis, { seconds })
      const stop = document.querySelector('[data-testid="stop"]')!
      stop.addEventListener('pointerdown', ({ timeStamp }) => (seconds.clicked = timeStamp / 1000))
      new MutationObserver(() => {
        if (document.documentElement.dataset.appState !== 'running')
          seconds.stopped = performance.now() / 1000
      }).observe(document.documentElement, { attributes: true })
    })
    await tab.at('stop').click()
    await tab.waitForGroup(7, 10_000)
    const { clicked, stopped } = await tab.page.evaluate(
      () => (globalThis as unknown as { seconds: { clicked: number; stopped: number } }).seconds,
    )
    expect(stopped - clicked).toBeLessThan(1)
    expect(await tab.at('banner').getAttribute('data-code')).toBe('STOPPED')
    await tab.set({ size: '64 KiB' })
    await tab.run()
  })

  it('do not run with a size that is none', async () => {
    await tab.at('size').fill('4x')
    expect(await tab.at('run').isDisabled()).toBe(true)
    expect(await tab.words('run-reason')).toBe('Write a size from 0 B to 64 MiB, such as 425 B or 1 MiB.')
    await tab.set({ size: '425 B' })
    expect(await tab.at('run').isEnabled()).toBe(true)
    expect(await tab.page.locator('#size-note').textContent()).toBe('106 elements of f32: 424 B')
  })

  it('save a run whose numbers are those of the page', async () => {
    await tab.at('tab-log').click()
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.at('export-json').click()])
    expect(JSON.stringify(await readJson(download))).toContain('"algorithm"')
  })

  it('save the messages of a run as a trace with a process for each rank', async () => {
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.at('export-trace').click()])
    const { traceEvents } = (await readJson(download)) as { traceEvents: TraceEvent[] }
    expect(traceEvents.filter(({ name }) => name === 'process_name')).toHaveLength(7)
    const ids = (ph: string) =>
      traceEvents
        .filter((event) => event.ph === ph)
        .map(({ id }) => id)
        .sort()
    expect(ids('s').length).toBeGreaterThan(0)
    expect(ids('f')).toEqual(ids('s'))
    await tab.at('tab-r').click()
  })

  it('keep size, algorithm, r and panel over a reload', async () => {
    await tab.set({ size: '64 KiB', r: 2 })
    await tab.at('tab-algorithms').click()
    const before = tab.page.url()
    await tab.page.reload()
    await tab.page.locator('html[data-app-state]').waitFor({ state: 'attached' })
    expect(tab.page.url()).toBe(before)
    expect(await tab.at('size').getAttribute('data-bytes')).toBe('65536')
    expect(await tab.at('algo').inputValue()).toBe('butterfly')
    expect(await tab.at('r').getAttribute('data-value')).toBe('2')
    expect(await tab.at('tab-algorithms').getAttribute('aria-selected')).toBe('true')
  })
})
