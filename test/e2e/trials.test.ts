/** Trials from public bug reports of other programs, as far as no other test has them: test/README.md lists all of them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { join } from '../../client/index.ts'
import type { JoinedGroup } from '../../client/rtc/join.ts'
import { startServerProcess } from '../real/serverProcess.ts'
import { openHouse } from '../support/house.ts'
import { launchChromium, type Running } from '../support/launch.ts'
import { bundleLibrary } from '../support/library.ts'
import { type Tab, Tabs } from '../support/pages.ts'

declare const papilio: { join: typeof join }
declare global {
  var trialGroup: JoinedGroup
  var trialFraction: number
  var trialWaits: { names: string[]; seconds: number }[]
}

interface Asked {
  count: number
  timeoutMs: number
}

interface Answer {
  sum: number | undefined
  size: number
  isEven: boolean
  isInputTouched: boolean
  error: string | undefined
}

/** In the tab: what rank k of the first four brings in is 10^k everywhere, so that the sum tells whose data are in it. */
async function allreduce({ count, timeoutMs }: Asked): Promise<Answer> {
  const group = globalThis.trialGroup
  globalThis.trialFraction = 0
  globalThis.trialWaits = []
  const forget = group.on('waiting', ({ peers, seconds }) => {
    globalThis.trialWaits.push({ names: peers.map((peer) => peer.name), seconds })
  })
  const value = 10 ** Number(group.name)
  const input = new Float32Array(count).fill(value)
  const isTouched = () => input.some((element) => element !== value)
  try {
    const { data, report } = await group.allreduce(input, {
      algorithm: 'ring',
      timeoutMs,
      onProgress: ({ fraction }) => {
        globalThis.trialFraction = fraction
      },
    })
    const sum = data[0]!
    const isEven = data.every((element) => element === sum)
    return { sum, size: report.contributors.length, isEven, isInputTouched: isTouched(), error: undefined }
  } catch (error) {
    const { message } = error as Error
    return { sum: undefined, size: 0, isEven: true, isInputTouched: isTouched(), error: message }
  } finally {
    forget()
  }
}

describe('a group of tabs', () => {
  const house = openHouse({ browser: 'file' })
  let tabs: Tab[] = []
  const ask = (count: number, timeoutMs = 20_000) =>
    Promise.all(tabs.map((tab) => tab.page.evaluate(allreduce, { count, timeoutMs })))
  const right = (sum: number, size: number): Answer => ({
    sum,
    size,
    isEven: true,
    isInputTouched: false,
    error: undefined,
  })

  beforeAll(async () => {
    await house.tabs.addScript(await bundleLibrary())
    tabs = await Promise.all(Array.from({ length: 4 }, () => house.tabs.openBlank()))
    await Promise.all(
      tabs.map((tab, index) =>
        tab.page.evaluate(async (name) => {
          const options = { url: location.origin, room: 'trial', create: true, size: 4, seats: null }
          globalThis.trialGroup = await papilio.join({ ...options, name })
        }, String(index)),
      ),
    )
  })

  it('shows within 3 s who does not make the call, and ends with that name at the time-out', async () => {
    const idle = tabs.pop()!
    const answers = await ask(1000, 4000)
    for (const { error, isInputTouched } of answers) {
      expect(error).toMatch(/did not end within [\d.]+ s: waiting in step \d for 3 \(rank/)
      expect(isInputTouched).toBe(false)
    }
    for (const tab of tabs) {
      const [first] = await tab.page.evaluate(() => globalThis.trialWaits)
      expect(first!.names).toEqual(['3'])
      expect(first!.seconds).toBeLessThan(3)
    }
    tabs.push(idle)
    // The late caller gets the same answer; then all meet again.
    const late = await idle.page.evaluate(allreduce, { count: 1000, timeoutMs: 4000 })
    expect(late.error).toMatch(/3 \(rank/)
    expect(await ask(1000)).toEqual(tabs.map(() => right(1111, 4)))
  })

  it('ends in less than 5 s when a tab dies at 40 % of 16 MB: the sum of the others, who go on', async () => {
    const [victim] = tabs.splice(2, 1)
    void victim!.page.evaluate(allreduce, { count: 4_000_000, timeoutMs: 20_000 }).catch(() => {})
    const answers = ask(4_000_000)
    await victim!.page.waitForFunction(() => globalThis.trialFraction >= 0.4)
    const killed = performance.now()
    await victim!.page.close()
    const results = await answers
    expect((performance.now() - killed) / 1000).toBeLessThan(5)
    expect(results).toEqual(tabs.map(() => right(1011, 3)))
    expect(await ask(1000)).toEqual(tabs.map(() => right(1011, 3)))
  })

  it('ends in less than 5 s when a tab dies between the calls, before anybody has noticed', async () => {
    const victim = tabs.pop()!
    const killed = performance.now()
    const closing = victim.page.close()
    const answers = await ask(1000)
    await closing
    expect((performance.now() - killed) / 1000).toBeLessThan(5)
    expect(answers).toEqual(tabs.map(() => right(11, 2)))
  })
})

describe('a room of pages whose server is killed', () => {
  let server: Awaited<ReturnType<typeof startServerProcess>>
  let running: Running
  let house: Tabs

  beforeAll(async () => {
    server = await startServerProcess()
    running = await launchChromium()
    house = new Tabs(running.context, server)
    house.expectProblem(/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|WebSocket/)
  })
  afterAll(async () => {
    await running.close()
    await server.close()
  })

  it('ends its op, is whole 5 s after the server is back, and lets others in; twice', {
    timeout: 90_000,
  }, async () => {
    let tabs = await house.openRoom(3)
    const { pathname } = await tabs[0]!.joinUrl()
    for (const size of [3, 4]) {
      const before = await tabs[0]!.roster()
      const caller = tabs.at(-1)!
      await caller.set({ size: '16 MiB', algorithm: 'ring' })
      await caller.at('run').click()
      await caller.waitFor('running')
      const back = server.restart(5)
      await caller.expectRight()
      expect(await caller.words('verify')).toContain(`${size} of ${size} peers agree, 0 wrong elements.`)
      await back
      // Who comes in shows that the members are back by then, and that it is the same room.
      await caller.page.waitForTimeout(5000)
      const newcomer = await house.open(pathname)
      tabs = [...tabs, newcomer]
      await Promise.all(tabs.map((tab) => tab.waitForGroup(size + 1, 15_000)))
      const after = await tabs[0]!.roster()
      expect(after.slice(0, size)).toEqual(before)
    }
    expect(house.problems()).toEqual([])
  })
})
