import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import { type Trace, type TraceEvent, traceOf } from '../../../shared/collective/trace.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

const phase = ({ traceEvents }: Trace, ph: TraceEvent['ph']) => traceEvents.filter((event) => event.ph === ph)

/** No two slices of a thread overlap, and each arrow leaves a slice and ends in one, never earlier. */
function expectSound(trace: Trace): void {
  const threads = new Map<string, TraceEvent[]>()
  for (const slice of phase(trace, 'X')) {
    const key = `${slice.pid} ${slice.tid}`
    threads.set(key, [...(threads.get(key) ?? []), slice])
  }
  for (const slices of threads.values()) {
    slices.sort((a, b) => a.ts! - b.ts!)
    for (const [at, slice] of slices.slice(1).entries())
      expect(slices[at]!.ts! + slices[at]!.dur!).toBeLessThanOrEqual(slice.ts! + 1e-3)
  }
  const [starts, ends] = [phase(trace, 's'), phase(trace, 'f')]
  const ids = starts.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ends.map(({ id }) => id).sort()).toEqual([...ids].sort())
  for (const end of ends) {
    const start = starts.find(({ id }) => id === end.id)!
    expect(end.ts!).toBeGreaterThanOrEqual(start.ts!)
    for (const each of [start, end]) {
      const slices = threads.get(`${each.pid} ${each.tid}`)!
      expect(slices.some(({ ts, dur }) => ts! <= each.ts! && each.ts! <= ts! + dur! + 1e-3)).toBe(true)
    }
  }
}

describe('traceOf', () => {
  it('shows a real op: a process for each rank, an arrow for each message', async () => {
    const clock = new VirtualClock()
    const room = createMemoryRoom({ clock, latency: 0.002, measure: false })
    const groups = ['Ada', 'Bo', 'Cem'].map((name) => room.join(name))
    await inVirtualTime(clock, whenTogether(groups))
    const vector = new Float32Array(50_000)
    const results = groups.map((group) => group.allreduce(vector, { algorithm: 'ring' }))
    const reports = (await inVirtualTime(clock, Promise.all(results))).map(({ report }) => report)
    const [report] = reports
    const ranks = reports.map(({ messages }, rank) => ({ name: groups[rank]!.members[rank]!.name, messages }))
    const trace = traceOf({ ...report!, ranks }, { epoch: report!.epoch })
    expectSound(trace)
    const processes = trace.traceEvents.filter(({ name }) => name === 'process_name')
    expect(processes.map(({ args }) => args?.name)).toEqual(['rank 0 · Ada', 'rank 1 · Bo', 'rank 2 · Cem'])
    // A ring of three: each rank sends one message in each of four steps.
    expect(phase(trace, 's')).toHaveLength(12)
    expect(phase(trace, 'X').filter(({ name }) => name.startsWith('step'))).toHaveLength(12)
    expect(trace.otherData).toMatchObject({ size: 3, algorithm: 'ring', steps: 4, epoch: report!.epoch })
    expect(JSON.parse(JSON.stringify(trace))).toEqual(trace)
  })

  it('gives messages that overlap rows of their own, and never draws an arrow back in time', () => {
    const message = { peer: 1, bytes: 8, direction: 'send' as const }
    const trace = traceOf({
      algorithm: 'ring',
      settings: {},
      steps: 2,
      ranks: [
        {
          name: 'Ada',
          messages: [
            { ...message, step: 0, begin: 0.5, end: 0.8 },
            { ...message, step: 1, begin: 0.6, end: 0.9 },
          ],
        },
        // Its clock began later.
        {
          name: 'Bo',
          messages: [{ step: 0, direction: 'receive', peer: 0, bytes: 8, begin: 0.1, end: 0.3 }],
        },
        { name: 'Cem' },
      ],
    })
    expectSound(trace)
    const names = trace.traceEvents.filter(({ name, pid }) => name === 'thread_name' && pid === 0)
    expect(names.map(({ args }) => args?.name)).toEqual(['steps', 'steps (2)', 'send→1', 'send→1 (2)'])
    expect(phase(trace, 'X').find(({ name }) => name === 'from 0')?.args).toMatchObject({
      clockUncertain: true,
    })
    // The second one was not told by its receiver.
    expect(phase(trace, 's').map(({ id }) => id)).toEqual(['0-0-1'])
  })

  it('keeps the steps and leaves out the messages of a trace that no viewer would load', () => {
    const messages = Array.from({ length: 10_001 }, (_, step) => ({
      step,
      direction: 'send' as const,
      peer: 1,
      bytes: 8,
      begin: step,
      end: step + 0.5,
    }))
    const trace = traceOf({
      algorithm: 'ring',
      settings: {},
      steps: 3,
      ranks: [{ name: 'Ada', messages }, { name: 'Bo' }],
    })
    expect(phase(trace, 'X').map(({ name }) => name)).toEqual(['step 1', 'step 2', 'step 3'])
    expect(trace.otherData.omittedMessages).toBe(10_001)
  })
})
