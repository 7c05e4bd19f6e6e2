/** The peers of a benchmark: in tabs of a Chromium that is started for them. */
import type { Clock } from '../../shared/base/clock.ts'
import { createDeferred } from '../../shared/base/deferred.ts'
import { AbortedError, JoinError, PapilioError } from '../../shared/base/errors.ts'
import type { BenchEvent } from '../../shared/bench/events.ts'
import type { BenchPlan } from '../../shared/bench/plan.ts'
import {
  readReport,
  reportFunction,
  stopEvent,
  type TabOrder,
  type TabReport,
  writeOrder,
} from '../../shared/bench/reports.ts'
import { pathOf } from '../session/routes.ts'
import type { Place } from './benchPeers.ts'
import { type Chromium, startChromium } from './chromium.ts'
import type { DevtoolsEvent } from './devtools.ts'

export interface TabsConfig {
  readonly place: Place
  readonly create: boolean
  /** Peers of each tab. */
  readonly shares: readonly number[]
  /** In the room, with those of other machines. */
  readonly size: number
  readonly plan: BenchPlan
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onEvent: (event: BenchEvent) => void
}

interface Tab {
  readonly seated: Promise<void>
  readonly ended: Promise<void>
  stop(): void
}

/** How long a tab may take to load the page and to take its seats. */
const seatSeconds = 30

/** Resolves when the benchmark is over for all of them. @throws what ended it early */
export async function benchInTabs(config: TabsConfig): Promise<void> {
  const { shares, size, plan, clock, signal, onEvent } = config
  const chromium = await startChromium(clock)
  const tabs: Tab[] = []
  const stop = () => {
    for (const tab of tabs) tab.stop()
  }
  signal.addEventListener('abort', stop)
  const open = async (count: number, isFirst: boolean) => {
    if (signal.aborted) throw signal.reason
    const order = { count, size, plan, create: config.create && isFirst }
    const tab = await openTab(chromium, { ...config, order, onEvent: isFirst ? onEvent : () => {} })
    tabs.push(tab)
    await Promise.race([tab.seated, chromium.ended])
  }
  try {
    const [own = 1, ...others] = shares
    await open(own, true)
    await Promise.all(others.map((count) => open(count, false)))
    await Promise.race([Promise.all(tabs.map(({ ended }) => ended)), chromium.ended])
  } finally {
    signal.removeEventListener('abort', stop)
    await chromium.close()
  }
}

interface TabConfig extends Pick<TabsConfig, 'place' | 'clock' | 'onEvent'> {
  readonly order: TabOrder
}

async function openTab({ devtools }: Chromium, config: TabConfig): Promise<Tab> {
  const { place, clock, order, onEvent } = config
  const { targetId } = await devtools.call('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await devtools.call('Target.attachToTarget', { targetId, flatten: true })
  const call = (method: string, params: Record<string, unknown> = {}) =>
    devtools.call(method, params, String(sessionId))
  const seated = createDeferred<void>()
  const ended = createDeferred<void>()
  const fail = (error: unknown) => {
    seated.reject(error)
    ended.reject(error)
  }
  // Who waits for the one need not wait for the other.
  seated.promise.catch(() => {})
  ended.promise.catch(() => {})
  const address = `${place.url.origin}${pathOf(place.room, 'bench')}`
  const heard = (report: TabReport) => {
    switch (report.report) {
      case 'seated':
        return seated.resolve()
      case 'event':
        return onEvent(report.event)
      case 'ended':
        return ended.resolve()
      case 'failed':
        return fail(errorOf(report))
    }
  }
  devtools.on('event', (event) => {
    if (event.sessionId !== sessionId) return
    try {
      const text = reportIn(event)
      if (text !== undefined) heard(readReport(text))
      else if (event.method === 'Inspector.targetCrashed') fail(crashed(order))
      else if (event.method === 'Runtime.exceptionThrown')
        fail(new Error(`A tab failed: ${JSON.stringify(event.params)}`))
    } catch (error) {
      fail(error)
    }
  })
  await call('Inspector.enable')
  await call('Runtime.enable')
  await call('Runtime.addBinding', { name: reportFunction })
  const { errorText } = await call('Page.navigate', { url: address + writeOrder(order) })
  if (typeof errorText === 'string')
    fail(new JoinError('SIGNAL_UNREACHABLE', `Chromium cannot open ${address}: ${errorText}.`))
  const cancel = clock.after(seatSeconds, () =>
    fail(
      new JoinError(
        'GROUP_NOT_FORMED',
        `A tab has not become a peer within ${seatSeconds} s: ${address} must be the page of a Papilio server, built, and as new as this command.`,
      ),
    ),
  )
  void seated.promise.then(cancel, cancel)
  return {
    seated: seated.promise,
    ended: ended.promise,
    stop() {
      const expression = `dispatchEvent(new Event(${JSON.stringify(stopEvent)}))`
      call('Runtime.evaluate', { expression }).catch(() => {})
    },
  }
}

function reportIn({ method, params }: DevtoolsEvent): string | undefined {
  const isReport = method === 'Runtime.bindingCalled' && params.name === reportFunction
  return isReport && typeof params.payload === 'string' ? params.payload : undefined
}

function errorOf({ code, message }: Extract<TabReport, { report: 'failed' }>): Error {
  if (code === undefined) return new Error(`A tab failed: ${message}`)
  return code === 'ABORTED' ? new AbortedError(message) : new PapilioError(code, message)
}

function crashed({ count }: TabOrder): PapilioError {
  return new PapilioError(
    'PEER_LOST',
    `A tab with ${count === 1 ? 'a peer' : `${count} peers`} of this benchmark has crashed; it may have lacked memory.`,
  )
}
