/** The stage in a real browser: what is drawn, what keys and pointer do, and what a screen reader finds. */
import axe from 'axe-core'
import { h, render } from 'preact'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import '../../../client/page/styles/tokens.css'
import { Playback } from '../../../client/page/stage/playback/Playback.tsx'
import { Timetable } from '../../../client/page/stage/timetable/Timetable.tsx'
import { ranksOf, scheduleOf } from '../../client/page/stage/harness/samples.ts'
import { views } from '../../client/page/stage/harness/views.tsx'

let root: HTMLElement

beforeEach(async () => {
  await page.viewport(1100, 800)
  root = document.createElement('main')
  document.body.append(root)
})

afterEach(() => {
  render(null, root)
  root.remove()
  delete document.documentElement.dataset.theme
})

function show(view: string, query: string): void {
  const View = views[view]
  if (View) render(h(View, { query: new URLSearchParams(query) }), root)
}

const find = (selector: string) => root.querySelector<HTMLElement>(selector)
const words = (selector: string) => find(selector)?.textContent ?? ''

describe('Timetable', () => {
  it('reads messages aloud as the arrow keys move over them, and lets the table be read instead', async () => {
    show('timetable', 'p=7&r=1')
    await vi.waitFor(() => expect(find('.timetable-panes')).not.toBeNull())
    find('.timetable-panes')!.focus()
    await userEvent.keyboard('{ArrowRight}{ArrowRight}{ArrowDown}')
    await vi.waitFor(() =>
      expect(words('.timetable-frame [aria-live]')).toMatch(
        /^Step 2: Bo \(rank 1\) → .*chunks .* to add, 439 KiB/,
      ),
    )
    expect(words('.stage-tooltip')).toContain('Step 2: Bo (rank 1)')
    await userEvent.keyboard('{Escape}')
    await vi.waitFor(() => expect(find('.stage-tooltip')).toBeNull())

    await userEvent.click(page.getByRole('button', { name: 'as table' }))
    await vi.waitFor(() => expect(root.querySelectorAll('tbody tr')).toHaveLength(5 * 7))
    expect(words('[data-testid=schedule-step]')).toBe('All 5 steps are done')
  })

  it('shows one removed step and says so', async () => {
    show('timetable', 'p=7&r=1')
    await vi.waitFor(() => expect(find('.timetable-picture')).not.toBeNull())
    expect(find('.timetable-picture')!.getAttribute('aria-label')).toContain('1 removed step')
    expect(words('.stage-stamp')).toBe('Simulation')
    expect(find('[data-testid=schedule]')!.dataset).toMatchObject({ size: '7', steps: '5', mode: 'steps' })
  })

  it('lights the path of a rank when its name is clicked, and all of them when clicked again', async () => {
    show('timetable', 'p=7')
    await vi.waitFor(() => expect(find('.timetable-labels')).not.toBeNull())
    const faded = () => root.querySelectorAll('.timetable-body > g[opacity="0.12"]').length
    const label = find('.timetable-labels')!
    await userEvent.click(label, { position: { x: 20, y: 30 } })
    await userEvent.hover(find('[data-testid=schedule-step]')!)
    // 6 steps of 7 messages with their tags, less the 2 of rank 0 in each step.
    await vi.waitFor(() => expect(faded()).toBe(2 * 6 * 5))
    await userEvent.click(label, { position: { x: 20, y: 30 } })
    await userEvent.hover(find('[data-testid=schedule-step]')!)
    await vi.waitFor(() => expect(faded()).toBe(0))
  })

  it('draws 64 ranks on a canvas, in the colours of the theme', async () => {
    show('timetable', 'p=64&algo=ring')
    await vi.waitFor(() => expect(find('canvas')).not.toBeNull())
    const painted = () => {
      const canvas = find('canvas') as HTMLCanvasElement
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, 40)
      return [...new Uint32Array(data.buffer)].filter((pixel) => pixel !== 0)
    }
    const light = painted()
    expect(light.length).toBeGreaterThan(100)
    document.documentElement.dataset.theme = 'dark'
    await vi.waitFor(() => expect(painted()).not.toEqual(light))
  })

  it('moves messages in a live run by what is acknowledged, and names who is waited for', async () => {
    const { schedule } = scheduleOf(new URLSearchParams('p=4'))
    const ranks = ranksOf(4)
    const draw = (fraction: number) =>
      render(
        h(Timetable, {
          schedule,
          bytes: 4096,
          ranks,
          mode: 'steps',
          simulated: false,
          progress: [{ step: 1, fraction }, { step: 1, fraction: 0 }, undefined, undefined],
          waiting: [{ rank: 1, peers: [2] }],
        }),
        root,
      )
    const dots = () =>
      [...root.querySelectorAll('.timetable-overlay circle[stroke]')].map((c) => c.getAttribute('cx'))
    draw(0.25)
    await vi.waitFor(() => expect(dots()).toHaveLength(1))
    const [before] = dots()
    draw(0.75)
    await vi.waitFor(() => expect(Number(dots()[0])).toBeGreaterThan(Number(before)))
    expect(words('.timetable-overlay')).toBe('2')
    expect(find('[data-testid=schedule-step]')!.dataset).toMatchObject({ step: '1', total: '4' })
  })
})

describe('Playback', () => {
  const moves: number[] = []
  function Player({ at }: { at: number }) {
    return h(Playback, {
      stops: [0, 1, 2, 3],
      cursor: at,
      secondsPerUnit: 0.05,
      onCursor: (cursor: number) => {
        moves.push(cursor)
        render(h(Player, { at: cursor }), root)
      },
    })
  }

  beforeEach(() => {
    moves.length = 0
    render(h(Player, { at: 0 }), root)
  })

  it('steps, jumps and plays by keys', async () => {
    const scrub = root.querySelector<HTMLInputElement>('input[type=range]')!
    scrub.focus()
    await userEvent.keyboard('{ArrowRight}{ArrowRight}{ArrowLeft}{End}{Home}')
    expect(moves).toEqual([1, 2, 1, 3, 0])
    await userEvent.keyboard(' ')
    await vi.waitFor(() => expect(moves.at(-1)).toBe(3))
    const played = moves.slice(5)
    expect(played.length).toBeGreaterThan(3)
    expect([...played].sort((a, b) => a - b)).toEqual(played)
    await vi.waitFor(() => expect(find('[aria-label=Play]')).not.toBeNull())
    await userEvent.keyboard('++')
    await vi.waitFor(() => expect(root.querySelector('select')!.value).toBe('4'))
  })

  it('jumps from step to step where motion is not wanted', async () => {
    render(null, root)
    const asked = vi
      .spyOn(window, 'matchMedia')
      .mockImplementation(() => Object.assign(new EventTarget(), { matches: true }) as MediaQueryList)
    render(h(Player, { at: 0 }), root)
    await userEvent.click(find('[aria-label=Play]')!)
    await vi.waitFor(() => expect(moves.at(-1)).toBe(3))
    asked.mockRestore()
    expect(moves).toEqual([1, 2, 3])
  })
})

describe('LinkMatrix', () => {
  it('tells the numbers of a link in its cell, and is walked through by arrow keys', async () => {
    show('links', 'p=7&algo=ring')
    const cells = root.querySelectorAll<HTMLElement>('[data-testid=link-cell]')
    expect(cells).toHaveLength(42)
    const { a, b, rttMs, mbps, path } = cells[0]!.dataset
    expect([a, b, path]).toEqual(['0', '1', 'direct'])
    expect(Number(rttMs)).toBeGreaterThan(0)
    expect(Number(mbps)).toBeGreaterThan(0)
    find('[tabindex="0"][data-row]')!.focus()
    await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowRight}')
    expect(document.activeElement?.getAttribute('data-row')).toBe('2')
    await vi.waitFor(() => expect(words('.link-words')).toMatch(/Cem \(rank 2\)|slowest/i))
  })
})

describe('accessibility', () => {
  for (const theme of ['light', 'dark'])
    for (const [view, query] of [
      ['timetable', 'p=7&r=1&cursor=2.5'],
      ['timetable', 'p=16&mode=time&measured=1'],
      ['gantt', 'p=5'],
      ['links', 'p=5&algo=ring'],
      ['sweep', 'bytes=16384'],
      ['sizes', 'p=5'],
      ['fit', 'p=4'],
      ['strip', 'p=7'],
    ] as const)
      it(`has nothing to blame in ${view} (${query}), ${theme}`, async () => {
        document.documentElement.dataset.theme = theme
        document.body.style.background = 'var(--ground)'
        show(view, query)
        await vi.waitFor(() => expect(find('figure svg, figure table')).not.toBeNull())
        const { violations } = await axe.run(root, { resultTypes: ['violations'] })
        expect(
          violations
            .filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`),
        ).toEqual([])
      })
})
