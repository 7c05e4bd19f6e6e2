/** The Lab in a real browser, on groups in memory: every state can be read, reached by keyboard, and is accessible in both themes. */
import axe from 'axe-core'
import { h, render } from 'preact'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import '../../../client/page/styles/tokens.css'
import '../../../client/page/styles/base.css'
import '../../../client/page/styles/shell.css'
import '../../../client/page/styles/rail.css'
import '../../../client/page/styles/run.css'
import '../../../client/page/styles/inspector.css'
import '../../../client/page/styles/screens.css'
import type { AppState } from '../../../client/page/session/appState.ts'
import { createStore, reflectState, type Store } from '../../../client/page/store.ts'
import { App } from '../../../client/page/ui/App.tsx'
import { createMemoryLab, type MemoryLab } from '../../client/page/harness/memoryLab.ts'

let root: HTMLElement
let store: Store
let memory: MemoryLab
const html = document.documentElement

beforeEach(async () => {
  await page.viewport(1440, 900)
  history.replaceState(null, '', '#')
  root = document.createElement('div')
  document.body.append(root)
})

afterEach(async () => {
  await store.lab.leave()
  render(null, root)
  root.remove()
  delete html.dataset.theme
})

function show(given: MemoryLab): void {
  memory = given
  const { lab } = given
  store = createStore(lab)
  reflectState(lab)
  render(h(App, { store }), root)
}

const all = (testId: string) => [...root.querySelectorAll<HTMLElement>(`[data-testid="${testId}"]`)]
const at = (testId: string): HTMLElement => {
  const [first] = all(testId)
  if (!first) throw new Error(`no ${testId} on the page`)
  return first
}
const text = (testId: string) => at(testId).textContent ?? ''
const press = (testId: string) => at(testId).click()

function until(state: AppState, size?: number): Promise<void> {
  return vi.waitFor(
    () => {
      expect(html.dataset.appState).toBe(state)
      if (size !== undefined) expect(html.dataset.p).toBe(String(size))
    },
    { timeout: 15_000 },
  )
}

async function ready(options: Parameters<typeof createMemoryLab>[0] = {}, peers = 6): Promise<MemoryLab> {
  show(createMemoryLab(options))
  await memory.lab.enter(undefined)
  await until('empty', 1)
  await memory.lab.addInPage(peers)
  await until('ready', peers + 1)
  return memory
}

async function finished(): Promise<void> {
  await vi.waitFor(() => expect(store.lab.state.run?.phase).not.toBe('running'), { timeout: 20_000 })
  await vi.waitFor(() => expect(all('run')).toHaveLength(1))
}

async function runAgain(): Promise<void> {
  store.change({ bytes: 1024, repeats: 1 })
  await vi.waitFor(() => expect((at('run') as HTMLButtonElement).disabled).toBe(false), { timeout: 15_000 })
  press('run')
  await vi.waitFor(() => expect(at('verify').dataset.ok).toBe('true'), { timeout: 15_000 })
}

async function violations(): Promise<string[]> {
  // Colours in the middle of a transition are not those that people read.
  await new Promise((resolve) => setTimeout(resolve, 400))
  const results = await axe.run(document.body, {
    resultTypes: ['violations'],
    // The frame of the test runner has no landmarks or title of its own.
    rules: { region: { enabled: false } },
  })
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
    )
}

/** How to get the page into each state. */
const scenes: Readonly<Record<string, () => Promise<unknown>>> = {
  async empty() {
    show(createMemoryLab())
    await memory.lab.enter(undefined)
    await until('empty', 1)
  },
  async waiting() {
    await scenes.empty!()
    store.lab.openTabs(6, () => true)
    await until('waiting')
  },
  async connecting() {
    show(createMemoryLab({ latency: 30 }))
    await memory.lab.enter(undefined)
    void memory.lab.addInPage(2)
    await until('connecting')
  },
  ready: () => ready({}, 2),
  async running() {
    const { room } = await ready({ latency: 0.01 }, 3)
    store.change({ bytes: 8 << 20 })
    await vi.waitFor(() => expect((at('run') as HTMLButtonElement).disabled).toBe(false))
    press('run')
    await vi.waitFor(() => expect(store.lab.state.run?.progress).toBeDefined())
    room.network.freeze('peer-2')
    await vi.waitFor(() => expect(all('stop')).toHaveLength(1))
  },
  async 'running with fewer'() {
    const { room } = await ready({ latency: 0.01 }, 3)
    store.change({ bytes: 8 << 20, algorithm: 'ring' })
    await vi.waitFor(() => expect((at('run') as HTMLButtonElement).disabled).toBe(false))
    press('run')
    await vi.waitFor(() => expect(store.lab.state.run?.progress).toBeDefined())
    room.network.kill('peer-2')
    await until('degraded', 3)
    // Frozen, it stays as it is for as long as somebody looks at it.
    room.network.freeze('peer-1')
  },
  async done() {
    await ready({}, 2)
    press('run')
    await vi.waitFor(() => expect(all('verify')).toHaveLength(1), { timeout: 15_000 })
  },
  async failed() {
    const { room } = await ready({ latency: 0.002 }, 3)
    store.change({ bytes: 1 << 20, repeats: 50 })
    await vi.waitFor(() => expect((at('run') as HTMLButtonElement).disabled).toBe(false))
    press('run')
    await vi.waitFor(() => expect(store.lab.state.run?.progress).toBeDefined())
    room.network.kill('peer-2')
    await vi.waitFor(() => expect(all('banner')).toHaveLength(1), { timeout: 15_000 })
  },
  async 'pop-ups blocked'() {
    await scenes.empty!()
    store.lab.openTabs(6, () => false)
    await vi.waitFor(() => expect(all('banner')).toHaveLength(1))
  },
  ...Object.fromEntries(
    (
      [
        ['ROOM_UNKNOWN', 'room-unknown'],
        ['VERSION_MISMATCH', 'version-mismatch'],
        ['NO_WEBRTC', 'unsupported'],
        ['SIGNAL_UNREACHABLE', 'failed'],
      ] as const
    ).map(([refuse, state]) => [
      `${state} (${refuse})`,
      async () => {
        show(createMemoryLab({ refuse }))
        await memory.lab.enter('k7f-2q9')
        await until(state)
      },
    ]),
  ),
}

describe.each(['light', 'dark'])('accessibility, %s', (theme) => {
  it.each(Object.keys(scenes))('%s', async (scene) => {
    html.dataset.theme = theme
    await scenes[scene]!()
    expect(await violations()).toEqual([])
  })

  it('every tab of the inspector, and the help', async () => {
    html.dataset.theme = theme
    await ready({}, 3)
    press('sweep')
    await finished()
    for (const tab of ['r', 'sizes', 'algorithms', 'links', 'log']) {
      press(`tab-${tab}`)
      await vi.waitFor(() => expect(root.querySelector('#panel')?.childElementCount).toBeGreaterThan(0))
      expect(await violations()).toEqual([])
    }
    press('help')
    expect(await violations()).toEqual([])
  })
})

describe('a run', () => {
  it('says why it cannot be started, then runs, verifies and shows measured beside predicted', async () => {
    await scenes.empty!()
    expect((at('run') as HTMLButtonElement).disabled).toBe(true)
    expect(text('run-reason')).toMatch(/at least two peers/)
    press('add-peers')
    await until('ready', 7)
    expect(all('peer-row').map((row) => row.dataset.rank)).toEqual(['0', '1', '2', '3', '4', '5', '6'])
    expect(all('peer-row').every((row) => row.dataset.state === 'ready')).toBe(true)
    await vi.waitFor(() => expect((at('run') as HTMLButtonElement).disabled).toBe(false))

    const percents: number[] = []
    const labels: string[] = []
    const watch = new MutationObserver(() => {
      percents.push(Number(at('progress').getAttribute('aria-valuenow')))
      labels.push(text('step-label'))
    })
    watch.observe(root, { subtree: true, childList: true, characterData: true, attributes: true })
    press('run')
    await vi.waitFor(() => expect(all('verify')).toHaveLength(1), { timeout: 15_000 })
    await vi.waitFor(() => expect(text('step-label')).toMatch(/^All \d+ steps done$/))
    watch.disconnect()
    expect(percents).toEqual([...percents].sort((a, b) => a - b))
    expect(percents.at(-1)).toBe(100)
    const steps = [...new Set(labels.flatMap((label) => /^Step ([1-9]\d*) of/.exec(label)?.[1] ?? []))]
    expect(steps).toEqual(Array.from({ length: steps.length }, (_, i) => String(i + 1)))
    expect(steps.length).toBe(store.lab.state.run!.progress!.steps)

    expect(at('verify').dataset).toMatchObject({ ok: 'true', identical: 'true' })
    expect(text('verify')).toMatch(/7 of 7 peers agree, 0 wrong elements/)
    expect(text('time-measured')).toMatch(/\d (ms|µs|s)$/)
    expect(text('time-predicted')).toMatch(/\d (ms|µs|s)$/)
    expect(html.dataset.appState).toBe('ready')
  })

  it('shows every r with one best prediction, one best measurement and what auto takes', async () => {
    await ready()
    await vi.waitFor(() => expect(all('r-table')).toHaveLength(1))
    press('sweep')
    await finished()
    const rows = [...at('r-table').querySelectorAll('tbody tr')] as HTMLElement[]
    expect(rows.map((row) => [row.dataset.r, row.children[1]?.textContent])).toEqual([
      ['0', '6'],
      ['1', '5'],
      ['2', '4'],
      ['3', '3'],
    ])
    expect(rows.every((row) => Number(row.dataset.measured) > 0 && row.dataset.n === '5')).toBe(true)
    expect(rows.filter((row) => row.dataset.bestMeasured === 'true')).toHaveLength(1)
    expect(rows.filter((row) => row.dataset.bestPredicted === 'true')).toHaveLength(1)
    expect(all('r-best')).toHaveLength(1)
  })

  it('is stopped by a click, says in which step, and the next one works', async () => {
    await scenes.running!()
    press('stop')
    await vi.waitFor(() => expect(at('banner').dataset.code).toBe('STOPPED'), { timeout: 5000 })
    expect(text('banner')).toMatch(/Stopped by Ada \(rank 0\)\. It was in step \d of \d/)
    expect(html.dataset.appState).not.toBe('failed')
    memory.room.network.thaw('peer-2')
    await runAgain()
  })

  it('names the peer that was lost, goes on with the others, and forgets the failure', async () => {
    await scenes.failed!()
    expect(text('banner')).toContain('Cem')
    await until('failed', 3)
    await runAgain()
    expect(all('banner')).toHaveLength(0)
  })

  it('shows nothing of the larger group once a peer is lost', async () => {
    await scenes['running with fewer']!()
    await vi.waitFor(() => expect(text('banner')).toContain('Cem (rank 2) left during the run.'))
    await vi.waitFor(() => expect(text('run-size')).toBe('3'))
    expect(at('banner').dataset.code).toBe('PEER_LOST')
    expect(at('schedule').dataset.size).toBe('3')
    expect(text('time-predicted')).toBe('–')
    expect(all('stop')).toHaveLength(1)
    press('stop')
    await vi.waitFor(() => expect(at('banner').dataset.code).toBe('STOPPED'), { timeout: 5000 })
    memory.room.network.thaw('peer-1')
    await runAgain()
    expect(text('verify')).toContain('3 of 3 peers agree')
  })

  it('keeps wrong numbers and different bits apart', async () => {
    await ready({}, 2)
    store.change({ data: 'real', algorithm: 'butterfly', r: 2, bytes: 1 << 16 })
    await vi.waitFor(() => expect((at('run') as HTMLButtonElement).disabled).toBe(false))
    press('run')
    await vi.waitFor(() => expect(all('verify')).toHaveLength(1), { timeout: 15_000 })
    expect(at('verify').dataset).toMatchObject({ ok: 'true', identical: 'false' })
    expect(text('verify')).toMatch(
      /no \(rounding order, largest difference \d+ ulps? in [\d,]+ of 16,384 elements\)/,
    )
  })
})

describe('settings', () => {
  it('stand in the address, and come back from it', async () => {
    await scenes.empty!()
    await userEvent.selectOptions(at('dtype') as HTMLSelectElement, 'f64')
    await userEvent.selectOptions(at('algo') as HTMLSelectElement, 'ring')
    await userEvent.fill(at('size'), '425')
    await userEvent.keyboard('{Enter}')
    expect(location.hash).toContain('size=425&type=f64&op=sum&algo=ring')
    expect(root.textContent).toContain('53 elements of f64')
    // The plan is longer now, and still shown at its end.
    expect(at('schedule-step').dataset).toMatchObject({ step: '12', total: '12' })
    await userEvent.fill(at('size'), 'much')
    await userEvent.keyboard('{Enter}')
    expect(root.textContent).toContain('Write a size from 0 B to 64 MiB')
    expect(location.hash).toContain('size=425')
  })

  it('shortcuts press buttons, not while typing, and can be switched off', async () => {
    await scenes.empty!()
    at('size').focus()
    await userEvent.keyboard('a')
    expect(store.lab.state.members).toHaveLength(1)
    ;(document.activeElement as HTMLElement).blur()
    await userEvent.keyboard('4')
    expect(at('tab-links').getAttribute('aria-selected')).toBe('true')
    await userEvent.keyboard('?')
    await vi.waitFor(() => expect((at('help-dialog') as HTMLDialogElement).open).toBe(true))
    await userEvent.click(page.getByText('Single-letter shortcuts'))
    await userEvent.keyboard('{Escape}')
    await userEvent.keyboard('1')
    expect(at('tab-links').getAttribute('aria-selected')).toBe('true')
    localStorage.removeItem('papilio-shortcuts')
  })
})

it('the refusal of a room is told once, with a way on', async () => {
  await scenes['room-unknown (ROOM_UNKNOWN)']!()
  expect(root.textContent?.split('Room k7f-2q9: ROOM_UNKNOWN.')).toHaveLength(2)
  expect(all('code')).toHaveLength(1)
})

it('numbers stay inside their tiles', async () => {
  await scenes.done!()
  for (const width of [320, 390, 768, 1024, 1280, 1366, 1440]) {
    await page.viewport(width, 800)
    // As wide as times get.
    at('time-measured').textContent = '88.8 ms'
    await vi.waitFor(() => expect(innerWidth).toBe(width))
    for (const tile of root.querySelectorAll('.figure')) {
      const right = tile.querySelector('.figure-value')!.getBoundingClientRect().right
      expect(right, `${width} px`).toBeLessThanOrEqual(tile.getBoundingClientRect().right + 0.5)
    }
  }
})

it('narrow screens scroll in one direction only', async () => {
  await scenes.done!()
  for (const width of [320, 360, 768, 1100]) {
    await page.viewport(width, 740)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(html.scrollWidth, `${width} px`).toBeLessThanOrEqual(html.clientWidth)
  }
})
