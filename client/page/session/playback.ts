/** What the stage shows of a run or a plan, and where it is in it. */
import type { TraceMessage } from '../../../shared/collective/types.ts'
import type { Schedule, Settings } from '../../../shared/schedule/types.ts'
import { contributorsOf } from '../../session/outcome.ts'
import { scheduleOf } from './planning.ts'
import type { RunState } from './runState.ts'

/** Messages of one variant by rank, as the ranks told them. */
export function tracesOf(run: RunState, variant: number): (readonly TraceMessage[] | undefined)[] {
  const results = run.results.get(variant)
  return contributorsOf(run, variant).map(({ peerId }) =>
    results?.get(peerId)?.trace?.map(([step, direction, peer, bytes, begin, end]) => ({
      step,
      direction: direction === 0 ? ('send' as const) : ('receive' as const),
      peer,
      bytes,
      begin,
      end,
    })),
  )
}

/** The same schedule before steps were removed; undefined when none were. */
export function ghostOf(algorithm: string, settings: Settings, size: number): Schedule | undefined {
  return Number(settings.r ?? 0) > 0 ? scheduleOf(algorithm, { ...settings, r: 0 }, size) : undefined
}

/** Seconds at which each step has ended everywhere, the start first: where playback stops in real time. */
export function stepEnds(traces: readonly (readonly TraceMessage[] | undefined)[], steps: number): number[] {
  const ends = [0]
  for (let step = 0; step < steps; step++) {
    const messages = traces.flatMap((trace) => trace?.filter((message) => message.step === step) ?? [])
    ends.push(Math.max(ends.at(-1)!, ...messages.map((message) => message.end)))
  }
  return ends
}
