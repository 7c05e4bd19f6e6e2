/** A tab that was opened for a benchmark of the command line: no page, only the peers that were ordered, and reports to whoever opened it. */
import type { Clock } from '../../../shared/base/clock.ts'
import { AbortedError, PapilioError } from '../../../shared/base/errors.ts'
import { attendBench, type BenchSeat, joinSeconds } from '../../../shared/bench/attend.ts'
import {
  reportFunction,
  stopEvent,
  type TabOrder,
  type TabReport,
  writeReport,
} from '../../../shared/bench/reports.ts'
import { createRawChannels } from '../../rtc/rawChannels.ts'
import { joinFromTab, tabWebrtc } from '../../tab.ts'

export interface OrderedParts {
  readonly room: string
  readonly agent: string
  readonly clock: Clock
  /** Where `reportFunction` and `stopEvent` are. */
  readonly scope: EventTarget
}

export async function attendAsOrdered(order: TabOrder, { room, agent, clock, scope }: OrderedParts) {
  const { count, size, create, plan } = order
  const tell: unknown = Reflect.get(scope, reportFunction)
  const report = (what: TabReport) => {
    if (typeof tell === 'function') tell.call(scope, writeReport(what))
  }
  const stopped = new AbortController()
  const stop = () => stopped.abort(new AbortedError('Interrupted.'))
  scope.addEventListener(stopEvent, stop)
  const { signal } = stopped
  const hasRaw = plan.baselines.includes('raw')
  const enter = async (isFirst: boolean): Promise<BenchSeat> => {
    const raw = hasRaw ? createRawChannels(tabWebrtc()) : undefined
    const group = await joinFromTab(
      {
        room,
        create: create && isFirst,
        kind: isFirst ? 'tab' : 'in-page',
        until: 'seat',
        timeoutMs: joinSeconds * 1000,
        seats: null,
        // While the channels are driven raw the group hears nothing.
        ...(hasRaw && { silenceSeconds: Number.POSITIVE_INFINITY }),
        signal,
      },
      raw?.webrtc,
    )
    return { group, raw }
  }
  try {
    const first = await enter(true)
    const others = await Promise.all(Array.from({ length: count - 1 }, () => enter(false)))
    report({ report: 'seated' })
    await attendBench({
      seats: [first, ...others],
      size,
      plan,
      agent,
      clock,
      signal,
      onEvent: (event) => report({ report: 'event', event }),
    })
    report({ report: 'ended' })
  } catch (error) {
    const code = error instanceof PapilioError ? error.code : undefined
    report({ report: 'failed', code, message: String(error instanceof Error ? error.message : error) })
    if (code === undefined) throw error
  } finally {
    scope.removeEventListener(stopEvent, stop)
  }
}
