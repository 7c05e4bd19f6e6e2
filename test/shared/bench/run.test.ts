/** Whole benchmarks on groups in memory: what the ranks agree on, what is checked, and how they end early. */
import { afterEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { AbortedError, ArgumentError } from '../../../shared/base/errors.ts'
import type { BenchEvent, Row } from '../../../shared/bench/events.ts'
import { BenchMember } from '../../../shared/bench/member.ts'
import { type BenchRequest, completePlan } from '../../../shared/bench/plan.ts'
import { type BenchOptions, runBench } from '../../../shared/bench/run.ts'
import { createMemoryGroup } from '../../../shared/collective/memoryGroup.ts'
import { traceOf } from '../../../shared/collective/trace.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { collectives } from '../../../shared/schedule/collectives.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

let clock = new VirtualClock()
let groups: Group[] = []
const settled = <T>(promise: Promise<T>) => inVirtualTime(clock, promise)
const leave = () => settled(Promise.all(groups.map((group) => group.leave())))
afterEach(leave)

async function meet(size: number) {
  clock = new VirtualClock()
  groups = await settled(createMemoryGroup(size, { clock, measure: false, latency: 0.001 }))
}

const small: BenchRequest = { minBytes: 64, maxBytes: 1024, step: { factor: 16 }, iterations: 2, warmup: 1 }

async function run(
  size: number,
  request: BenchRequest,
  of: (rank: number) => Partial<BenchOptions> = () => ({}),
) {
  await meet(size)
  const plan = completePlan({ ...small, ...request })
  const events = groups.map((): BenchEvent[] => [])
  await settled(
    Promise.all(
      groups.map((group, rank) =>
        runBench(group, plan, {
          clock,
          agent: 'Test',
          onEvent: (event) => events[rank]!.push(event),
          ...of(rank),
        }),
      ),
    ),
  )
  return events
}

const rowsIn = (events: readonly BenchEvent[]): Row[] =>
  events.flatMap((event) => (event.kind === 'row' ? [event.row] : []))

describe('a benchmark', () => {
  it('has the same rows on all ranks, with right results for every collective, out of place and in place', async () => {
    for (const collective of collectives) {
      const [first, ...others] = await run(3, { collective, root: collective === 'reduce' ? 'all' : 2 })
      const rows = rowsIn(first!)
      expect(rows.length, collective).toBe(collective === 'barrier' ? 1 : collective === 'reduce' ? 6 : 2)
      for (const row of rows) {
        expect(row.outOfPlace.wrong, collective).toBe(0)
        if (collective !== 'barrier') expect(row.inPlace?.wrong, collective).toBe(0)
        expect(row.outOfPlace.times).toHaveLength(2)
        expect(row.outOfPlace.seconds).toBeGreaterThan(0)
      }
      for (const other of others) expect(rowsIn(other)).toEqual(rows)
      expect(first!.at(-1)).toMatchObject({ kind: 'end', end: { rows: rows.length, wrong: 0 } })
      await leave()
    }
  })

  it('sees wrong elements on whatever rank they are', async () => {
    await meet(2)
    const liar = groups[1]!
    const allreduce = liar.allreduce.bind(liar)
    liar.allreduce = async (data, options = {}) => {
      const result = await allreduce(data, options)
      if (options.into) options.into[3] = 99 as never
      return result
    }
    const plan = completePlan({ ...small, check: 2, baselines: ['star'] })
    const rows: Row[] = []
    await settled(
      Promise.all(
        groups.map((group, rank) =>
          runBench(group, plan, {
            clock,
            agent: 'Test',
            onEvent: (event) => {
              if (rank === 0 && event.kind === 'row') rows.push(event.row)
            },
          }),
        ),
      ),
    )
    expect(rows.map(({ outOfPlace, inPlace }) => [outOfPlace.wrong, inPlace?.wrong])).toEqual(
      rows.map(() => [2, 2]),
    )
  })

  it('compares with other schedules and with what the same links carry raw', async () => {
    const moved: number[] = []
    const [events] = await run(3, { baselines: ['raw', 'star'], inPlace: false, maxBytes: 64 }, () => ({
      raw: {
        async move(traffic) {
          moved.push(traffic.reduce((sum, { sent }) => sum + sent, 0))
          return 0.5
        },
      },
    }))
    const [auto, star, raw] = rowsIn(events!)
    expect(auto?.ratios.raw).toBeCloseTo(0.5 / auto!.outOfPlace.seconds)
    expect(auto?.ratios.star).toBeCloseTo(star!.outOfPlace.seconds / auto!.outOfPlace.seconds)
    expect(star?.ratios).toEqual({})
    expect(raw).toMatchObject({ label: 'raw (auto)', baseline: 'raw', predictedSeconds: undefined })
    expect(raw?.outOfPlace).toMatchObject({ seconds: 0.5, wrong: undefined })
    // One warm-up and two iterations on three ranks.
    expect(moved).toHaveLength(9)
    expect(Math.max(...moved)).toBe(auto!.bytesSent)
  })

  it('times several calls as one where a clock is coarse, and makes fewer where time is short', async () => {
    // Time also passes while it is read; a look shows whole milliseconds.
    let reads = 0
    const coarse = {
      now: () => Math.floor((clock.now() + reads++ * 1e-6) * 1000) / 1000,
      after: (seconds: number, callback: () => void) => clock.after(seconds, callback),
    }
    const [events] = await run(
      2,
      { iterations: 50, secondsPerSize: 0.001, maxBytes: 64, inPlace: false },
      () => ({ clock: coarse }),
    )
    const [row] = rowsIn(events!)
    expect(row!.iterations).toBe(1)
    expect(row!.aggregate).toBeGreaterThan(1)
  })

  it('tells what moved when on all ranks', async () => {
    const [events] = await run(3, { trace: true })
    const traces = events!.flatMap((event) => (event.kind === 'trace' ? [event] : []))
    expect(traces.map(({ label, bytes }) => [label, bytes])).toEqual([['auto', 1024]])
    const { traceEvents } = traceOf(traces[0]!.op)
    expect(new Set(traceEvents.map(({ pid }) => pid))).toEqual(new Set([0, 1, 2]))
    expect(traceEvents.filter(({ ph }) => ph === 's').length).toBe(
      traceEvents.filter(({ ph }) => ph === 'f').length,
    )
  })

  it('refuses what this group cannot do before anything runs', async () => {
    await expect(run(2, { baselines: ['raw'] })).rejects.toThrow('cannot drive their channels raw')
    await expect(run(2, { algorithms: ['nonsense'] })).rejects.toThrow(ArgumentError)
  })

  it('ends on all ranks when one gives up, with the rows that were told', async () => {
    await meet(3)
    const plan = completePlan({ ...small, cycles: 1000 })
    const controller = new AbortController()
    const rows: Row[] = []
    const ends = await settled(
      Promise.allSettled(
        groups.map((group, rank) =>
          runBench(group, plan, {
            clock,
            agent: 'Test',
            ...(rank === 1 && { signal: controller.signal }),
            onEvent: (event) => {
              if (rank !== 0 || event.kind !== 'row') return
              rows.push(event.row)
              if (rows.length === 3) controller.abort()
            },
          }),
        ),
      ),
    )
    expect(rows.length).toBeGreaterThanOrEqual(3)
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'ABORTED' } })
  })

  it('ends on all that are left when a member is lost: its numbers would be of another size', async () => {
    await meet(3)
    const plan = completePlan({ ...small, cycles: 1000 })
    const ends = await settled(
      Promise.allSettled(
        groups.map((group, rank) =>
          runBench(group, plan, {
            clock,
            agent: 'Test',
            onEvent: (event) => {
              if (rank === 2 && event.kind === 'row') void group.leave()
            },
          }),
        ),
      ),
    )
    for (const end of ends.slice(0, 2)) {
      expect(end.status).toBe('rejected')
      expect(['PEER_LOST', 'EPOCH_CHANGED']).toContain((end as PromiseRejectedResult).reason.code)
    }
  })
})

describe('members of a room', () => {
  async function members(size: number, present = size) {
    await meet(size)
    const all = groups.slice(0, present).map((group) => new BenchMember({ group, clock, agent: 'Test' }))
    const heard = (member: BenchMember) =>
      new Promise<{ error?: unknown }>((resolve) => member.on('finished', resolve))
    const together = Promise.all(
      all.map(
        (member) =>
          new Promise<void>((resolve) => {
            const look = () => {
              if (member.present.length === present) resolve()
            }
            member.on('present', look)
            look()
          }),
      ),
    )
    await settled(together)
    return { all, heard }
  }

  it('carry out what any of them asks for', async () => {
    const { all, heard } = await members(3)
    const ends = all.map(heard)
    const rows: Row[] = []
    all[2]!.on('told', (event) => {
      if (event.kind === 'row') rows.push(event.row)
    })
    all[2]!.ask(completePlan(small))
    expect(await settled(Promise.all(ends))).toMatchObject([
      { end: { rows: 2 } },
      { end: { rows: 2 } },
      { end: { rows: 2 } },
    ])
    expect(rows).toHaveLength(2)
  })

  it('stop together when any of them says so', async () => {
    const { all, heard } = await members(2)
    const ends = all.map(heard)
    all[1]!.on('told', (event) => {
      if (event.kind === 'row') all[1]!.stop()
    })
    all[0]!.ask(completePlan({ ...small, cycles: 1000 }))
    for (const { error } of await settled(Promise.all(ends))) expect(error).toBeInstanceOf(AbortedError)
    expect(all.some(({ isRunning }) => isRunning)).toBe(false)
  })

  it('do not begin while one would not follow, and name it', async () => {
    const { all } = await members(3, 2)
    const refused = new Promise((resolve) => all[1]!.on('refused', resolve))
    all[1]!.ask(completePlan(small))
    expect(await settled(refused)).toBe('Rank 2 would not take part: open the benchmark there as well.')
  })

  it('do not begin a second one', async () => {
    const { all, heard } = await members(2)
    const ends = all.map(heard)
    const refused = new Promise((resolve) => all[1]!.on('refused', resolve))
    all[0]!.ask(completePlan(small))
    all[1]!.ask(completePlan(small))
    expect(await settled(refused)).toBe('A benchmark is running already.')
    await settled(Promise.all(ends))
  })
})
