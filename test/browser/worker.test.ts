/** Groups that run in workers, in a real Chromium: the same interface, the same errors, and a page that may be busy. */
import { afterEach, expect, inject, it, vi } from 'vitest'
import { AbortedError, type JoinedGroup, type JoinOptions, join, MismatchError } from '../../client/index.ts'

let groups: JoinedGroup[] = []

afterEach(async () => {
  await Promise.all(groups.map((group) => group.leave()))
  groups = []
})

async function meet(...each: JoinOptions[]): Promise<JoinedGroup[]> {
  const url = inject('serverUrl')
  const first = await join({ url, worker: 'auto', until: 'seat', seats: null, ...each[0] })
  const others = await Promise.all(
    each
      .slice(1)
      .map((options) =>
        join({ url, worker: 'auto', room: first.room, size: each.length, seats: null, ...options }),
      ),
  )
  groups = [first, ...others]
  await vi.waitFor(() => {
    for (const group of groups) expect([group.state, group.size]).toEqual(['ready', each.length])
  })
  return [...groups].sort((a, b) => a.rank - b.rank)
}

it('run in a worker, and meet others that do not', async () => {
  const all = await meet({}, {}, { worker: false })
  expect(groups.map(({ thread }) => thread)).toEqual(['worker', 'worker', 'page'])
  expect(all.map(({ rank }) => rank)).toEqual([0, 1, 2])
  // Small at once, large in pieces.
  for (const count of [5, 3_000_000]) {
    const fractions: number[] = []
    const results = await Promise.all(
      all.map((group, rank) =>
        group.allreduce(new Float32Array(count).fill(rank + 1), {
          onProgress: ({ fraction }) => group === groups[0] && fractions.push(fraction),
        }),
      ),
    )
    for (const { data, report } of results) {
      expect(data.length).toBe(count)
      expect(data.every((value) => value === 6)).toBe(true)
      expect(report.contributors).toHaveLength(3)
    }
    expect(fractions.at(-1)).toBe(1)
  }
  const choice = groups[0]!.predict({ count: 1000 })
  expect(choice.chosen.seconds).toBeGreaterThan(0)
  expect(groups[0]!.model).toEqual(groups[2]!.model)
  await vi.waitFor(() => expect(groups[0]!.links().every(({ state }) => state === 'open')).toBe(true))
})

it('keep calls in order, inputs as they are, and write into what is given', async () => {
  const all = await meet({}, {})
  const large = new Float64Array(1_000_000).fill(2)
  const into = new Float64Array(large.length)
  const results = await Promise.all(
    all.map(async (group) => {
      const first = group.allreduce(large, { op: 'max', ...(group === all[0] && { into }) })
      const second = group.allreduce(new Int32Array([3]))
      return [await first, await second] as const
    }),
  )
  expect(results[0]![0].data).toBe(into)
  expect(into.every((value) => value === 2)).toBe(true)
  expect(large.every((value) => value === 2)).toBe(true)
  for (const [, { data }] of results) expect([...data]).toEqual([6])
})

it('end with the same errors as on the thread of the page', async () => {
  const [a, b] = (await meet({}, {})) as [JoinedGroup, JoinedGroup]
  const calls = [a.allreduce(new Float32Array(4)), b.allreduce(new Float32Array(5))]
  const errors = await Promise.all(calls.map((call) => call.catch((reason: unknown) => reason)))
  for (const error of errors) {
    expect(error).toBeInstanceOf(MismatchError)
    expect(error).toMatchObject({ code: 'MISMATCH', field: 'count' })
  }
  const stop = new AbortController()
  const aborted = a.allreduce(new Float32Array(4), { signal: stop.signal })
  stop.abort('enough')
  const other = b.allreduce(new Float32Array(4))
  await expect(aborted).rejects.toSatisfy(
    (error) => error instanceof AbortedError && error.cause === 'enough',
  )
  // It may have had the data already: then it has its result.
  const [settled] = await Promise.allSettled([other])
  if (settled.status === 'rejected') expect(settled.reason).toMatchObject({ code: 'ABORTED' })
  await expect(a.allreduce(new Float32Array(4), { timeoutMs: -1 })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    argument: 'timeoutMs',
  })
  expect(() => a.tell('x'.repeat(100_000))).toThrow(/at most/)
  const fold = { combine: () => {}, identity: 0, commutative: true } as never
  await expect(a.allreduce(new Float32Array(4), { op: fold })).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringContaining('worker: false'),
  })
})

it('tell each other things, and go on while the page is busy', async () => {
  const [a, b] = (await meet({}, {})) as [JoinedGroup, JoinedGroup]
  const heard = vi.fn()
  b.on('message', heard)
  a.tell({ hello: 1 })
  await vi.waitFor(() => expect(heard).toHaveBeenCalledWith({ from: a.members[0], data: { hello: 1 } }))
  await Promise.all([a.barrier(), b.barrier()])
  const calls = [a, b].map((group) => group.allreduce(new Float32Array(100_000).fill(1)))
  // As a training loop does it: nothing else runs on this thread.
  for (const until = performance.now() + 1500; performance.now() < until; );
  const results = await Promise.all(calls)
  for (const { data, report } of results) {
    expect(data[99_999]).toBe(2)
    expect(report.seconds).toBeLessThan(1)
  }
})

it('pass on the state of the application, which is on the page', async () => {
  const [first] = (await meet({}, { worker: false })) as [JoinedGroup, JoinedGroup]
  const state = new Uint8Array(300_000).map((_, i) => i)
  for (const group of groups) group.offerState(() => state)
  const late = await join({
    url: inject('serverUrl'),
    worker: 'auto',
    room: first.room,
    size: 3,
    seats: null,
  })
  groups.push(late)
  const received = await late.receiveState()
  expect(received?.from).toEqual(first.members[0])
  expect(received?.data).toEqual(state)
  const results = await Promise.all(groups.map((group) => group.allreduce(Int32Array.of(1))))
  expect(results.map(({ data }) => data[0])).toEqual([3, 3, 3])
})
