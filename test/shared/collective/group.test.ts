import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { MismatchError, PeerLostError, TimeoutError } from '../../../shared/base/errors.ts'
import { createMemoryGroup, createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { meetVanishing } from '../../support/vanishing.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

const outcomes = <T>(promises: readonly Promise<T>[]) => Promise.allSettled(promises)
const errorsOf = async <T>(promises: readonly Promise<T>[]) =>
  (await outcomes(promises)).map((outcome) =>
    outcome.status === 'rejected' ? (outcome.reason as Error) : undefined,
  )

describe('allreduce in a memory group', () => {
  it.each([1, 2, 3, 5, 7, 8])(
    'gives every rank of %i the exact result for each operator and dtype',
    async (size) => {
      const groups = await createMemoryGroup(size)
      for (const make of [Float32Array, Float64Array, Int32Array])
        for (const [op, expected] of [
          ['sum', (size * (size - 1)) / 2 + size * 3],
          ['min', 3],
          ['max', size - 1 + 3],
          ['mean', (size - 1) / 2 + 3],
        ] as const)
          for (const count of [0, 1, size - 1, size, 2 * size + 1, 1009]) {
            const results = await Promise.all(
              groups.map((group, rank) => group.allreduce(new make(count).fill(rank + 3), { op })),
            )
            for (const { data, report } of results) {
              const value = make === Int32Array ? Math.trunc(expected) : expected
              expect(data).toEqual(new make(count).fill(value))
              expect(report.contributors.map((member) => member.name)).toEqual(
                groups.map((_, rank) => `Rank ${rank}`),
              )
            }
          }
    },
  )

  it('takes every algorithm by name, and every r', async () => {
    const groups = await createMemoryGroup(7, { measure: false })
    for (const options of [
      { algorithm: 'ring' },
      { algorithm: 'one-shot' },
      { algorithm: 'two-shot' },
      { algorithm: 'star' },
      ...[0, 1, 2, 3].map((r) => ({ algorithm: 'butterfly', r, consistency: 'fast' as const })),
    ]) {
      const data = groups.map((_, rank) => Int32Array.from({ length: 100 }, (_, i) => rank * 1000 + i))
      const results = await Promise.all(groups.map((group, rank) => group.allreduce(data[rank]!, options)))
      const expected = Int32Array.from({ length: 100 }, (_, i) => 21000 + 7 * i)
      for (const { data, report } of results) {
        expect(data).toEqual(expected)
        expect(report.algorithm).toBe(options.algorithm)
      }
    }
  })

  it('counts steps and bytes of the generalized butterfly exactly', async () => {
    const groups = await createMemoryGroup(7, { measure: false })
    for (const [r, steps, chunks] of [
      [0, 6, 12],
      [1, 5, 14],
      [2, 4, 18],
      [3, 3, 21],
    ] as const) {
      const results = await Promise.all(
        groups.map((group) =>
          group.allreduce(new Int32Array(7000), { algorithm: 'butterfly', r, consistency: 'fast' }),
        ),
      )
      for (const { report } of results)
        expect(report).toMatchObject({ steps, bytesSent: chunks * 4000, settings: { r } })
    }
  })

  it('keeps several ops apart that are in flight at once', async () => {
    const groups = await createMemoryGroup(5)
    const results = await Promise.all(
      groups.flatMap((group, rank) =>
        [1, 10, 100].map((factor) => group.allreduce(Int32Array.of(rank * factor))),
      ),
    )
    for (const [i, { data }] of results.entries()) expect(data[0]).toBe(10 * [1, 10, 100][i % 3]!)
  })

  it('leaves the input alone, writes `into` only at the end, and takes the input itself as `into`', async () => {
    const groups = await createMemoryGroup(3)
    const data = groups.map((_, rank) => Float32Array.of(rank, 1))
    const into = groups.map(() => new Float32Array(2))
    await Promise.all(groups.map((group, rank) => group.allreduce(data[rank]!, { into: into[rank]! })))
    expect(data.map((array) => [...array])).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ])
    for (const array of into) expect([...array]).toEqual([3, 3])
    const results = await Promise.all(
      groups.map((group, rank) => group.allreduce(data[rank]!, { into: data[rank]! })),
    )
    for (const [rank, { data: result }] of results.entries()) expect(result).toBe(data[rank])
    for (const array of data) expect([...array]).toEqual([3, 3])
  })

  it('reports progress that never falls and ends at 1', async () => {
    const groups = await createMemoryGroup(3)
    const fractions: number[] = []
    await Promise.all(
      groups.map((group, rank) =>
        group.allreduce(new Float32Array(100_000), {
          algorithm: 'ring',
          onProgress: (progress) => rank === 0 && fractions.push(progress.fraction),
        }),
      ),
    )
    expect(fractions.at(-1)).toBe(1)
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b))
    expect(fractions.length).toBeGreaterThan(4)
  })

  it('chooses by the measured model, the same on every rank', async () => {
    const groups = await createMemoryGroup(7)
    const models = await Promise.all(groups.map((group) => group.measure()))
    for (const model of models) {
      expect(model).toEqual(models[0])
      expect(model.version).toBeGreaterThan(0)
    }
    const results = await Promise.all(groups.map((group) => group.allreduce(new Float32Array(106))))
    expect(new Set(results.map(({ report }) => report.algorithm)).size).toBe(1)
    for (const { report } of results) {
      expect(report.predictedSeconds).toBeGreaterThan(0)
      expect(report.why).not.toBe('')
    }
  })
})

describe('mistakes', () => {
  it('end with the same MismatchError on all ranks, which has every rank value; the next call works', async () => {
    const groups = await createMemoryGroup(3)
    const lengths = [1000, 1000, 1001]
    const data = lengths.map((length) => new Float32Array(length).fill(1))
    const errors = await errorsOf(groups.map((group, rank) => group.allreduce(data[rank]!)))
    for (const error of errors) {
      expect(error).toBeInstanceOf(MismatchError)
      expect(error).toMatchObject({ field: 'count', byRank: { 0: 1000, 1: 1000, 2: 1001 } })
    }
    for (const array of data) expect(array.every((value) => value === 1)).toBe(true)
    const results = await Promise.all(groups.map((group) => group.allreduce(Float32Array.of(1))))
    for (const result of results) expect(result.data[0]).toBe(3)
  })

  it.each([
    ['operator', [{ op: 'sum' }, { op: 'max' }, { op: 'sum' }], 'operator'],
    ['name', [{ name: 'a' }, { name: 'b' }, { name: 'a' }], 'name'],
  ] as const)('a different %s is found', async (_, options, field) => {
    const groups = await createMemoryGroup(3)
    const errors = await errorsOf(
      groups.map((group, rank) => group.allreduce(new Float32Array(10), options[rank]!)),
    )
    for (const error of errors) expect(error).toMatchObject({ code: 'MISMATCH', field })
  })

  it('name the argument and what is allowed', async () => {
    const [group] = (await createMemoryGroup(1)) as [Group]
    await expect(group.allreduce([1, 2] as never)).rejects.toThrow(/Float32Array/)
    await expect(group.allreduce(new Float32Array(1), { op: 'median' as never })).rejects.toThrow(
      /sum, mean, min, max/,
    )
    await expect(group.allreduce(new Float32Array(1), { algorithm: 'quick' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    await expect(group.allreduce(new Float32Array(1), { into: new Float32Array(2) })).rejects.toThrow(
      /1 elements/,
    )
  })

  it('a rank that does not call is named while the others wait, and at the time-out', async () => {
    const clock = new VirtualClock()
    const groups = await inVirtualTime(clock, createMemoryGroup(4, { clock }))
    const waits: [number, string][] = []
    groups[0]!.on('waiting', ({ peers }) => waits.push([clock.now(), peers.map((peer) => peer.name).join()]))
    const begin = clock.now()
    const errors = await inVirtualTime(
      clock,
      errorsOf(groups.slice(0, 3).map((group) => group.allreduce(new Float32Array(8), { timeoutMs: 5000 }))),
    )
    for (const error of errors) {
      expect(error).toBeInstanceOf(TimeoutError)
      expect((error as TimeoutError).waitingFor.map((peer) => peer.name)).toEqual(['Rank 3'])
    }
    expect(waits[0]![0] - begin).toBeLessThan(3)
    for (const [, names] of waits) expect(names).toBe('Rank 3')
    // The late caller gets the same answer at once, and the next op works.
    await expect(groups[3]!.allreduce(new Float32Array(8))).rejects.toBeInstanceOf(TimeoutError)
    const results = await inVirtualTime(
      clock,
      Promise.all(groups.map((group) => group.allreduce(Int32Array.of(1)))),
    )
    for (const result of results) expect(result.data[0]).toBe(4)
  })

  it('an abort on one rank ends the op on all', async () => {
    const groups = await createMemoryGroup(3)
    const controller = new AbortController()
    const promises = groups
      .slice(0, 2)
      .map((group, rank) =>
        group.allreduce(new Float32Array(8), rank === 0 ? { signal: controller.signal } : {}),
      )
    controller.abort()
    for (const error of await errorsOf(promises)) expect(error).toMatchObject({ code: 'ABORTED' })
    await expect(groups[2]!.allreduce(new Float32Array(8))).rejects.toMatchObject({ code: 'ABORTED' })
  })
})

describe('members that come and go', () => {
  const names = ['Ada', 'Bo', 'Cem', 'Dee']
  const together = async () => {
    const room = createMemoryRoom({ noticeSeconds: 0 })
    const groups = names.map((name) => room.join(name))
    await whenTogether(groups)
    return { room, groups, survivors: groups.filter((_, rank) => rank !== 2) }
  }

  it('a peer lost in an op: the survivors finish it with one result and one list of contributors', async () => {
    const { room, groups, survivors } = await together()
    const data = survivors.map((_, index) => Int32Array.from({ length: 1000 }, (_, i) => i * 10 ** index))
    const promises = survivors.map((group, index) => group.allreduce(data[index]!))
    room.network.kill(groups[2]!.peerId)
    for (const { data: result, report } of await Promise.all(promises)) {
      expect(result).toEqual(Int32Array.from({ length: 1000 }, (_, i) => i * 111))
      expect(report.contributors.map((member) => member.name)).toEqual(['Ada', 'Bo', 'Dee'])
      expect(report.attempts).toBe(2)
    }
  })

  it("a peer lost in an op with onPeerLost 'abort': the same error on all, which names it; the next op runs without it", async () => {
    const { room, groups, survivors } = await together()
    const promises = survivors.map((group) =>
      group.allreduce(new Float32Array(1000), { onPeerLost: 'abort' }),
    )
    room.network.kill(groups[2]!.peerId)
    for (const error of await errorsOf(promises)) {
      expect(error).toBeInstanceOf(PeerLostError)
      expect((error as PeerLostError).peer).toMatchObject({ name: 'Cem', rank: 2 })
    }
    const results = await Promise.all(survivors.map((group) => group.allreduce(Int32Array.of(1))))
    for (const { data, report } of results) {
      expect(data[0]).toBe(3)
      expect(report.contributors.map((member) => member.name)).toEqual(['Ada', 'Bo', 'Dee'])
    }
  })

  it('a peer lost at any message: every survivor ends with the same result and the same contributors', async () => {
    for (let fatal = 1; fatal < 40; fatal++) {
      const { groups, arm } = await meetVanishing(names, fatal)
      const warm = await Promise.all(groups.map((group) => group.allreduce(Int32Array.of(1))))
      expect(warm.map(({ data }) => data[0])).toEqual([4, 4, 4, 4])
      arm()
      const survivors = groups.filter((_, rank) => rank !== 2)
      void groups[2]!.allreduce(Int32Array.of(100), { algorithm: 'ring' }).catch(() => {})
      const values = [1, 10, 1000]
      const results = await Promise.all(
        survivors.map((group, index) =>
          group.allreduce(Int32Array.of(values[index]!), { algorithm: 'ring' }),
        ),
      )
      const [{ data, report }] = results as [(typeof results)[0]]
      const isIn = report.contributors.some((member) => member.name === 'Cem')
      expect(data[0], `killed at message ${fatal}`).toBe(isIn ? 1111 : 1011)
      for (const other of results) {
        expect(other.data).toEqual(data)
        expect(other.report.contributors).toEqual(report.contributors)
      }
    }
  })

  it('a newcomer enters between two ops and stalls nobody', async () => {
    const room = createMemoryRoom()
    const [ada, bo] = [room.join('Ada'), room.join('Bo')]
    await whenTogether([ada, bo])
    // Whose data is in a result tells a member when the newcomer is in; all see it at the same op.
    const sums = async (group: Group) => {
      const seen: number[] = []
      while (seen.at(-1) !== 3) seen.push((await group.allreduce(Int32Array.of(1))).data[0]!)
      return seen
    }
    const work = [sums(ada), sums(bo)]
    const newcomer = room.join('Cem')
    const [a, b, c] = await Promise.all([...work, sums(newcomer)])
    expect(a).toEqual(b)
    expect(c).toEqual([3])
  })

  it('a call that is aborted before it has a number ends on all ranks, and later calls still meet', async () => {
    const { room, groups, survivors } = await together()
    // The group is held until it has agreed on the epoch without the lost peer.
    room.network.kill(groups[2]!.peerId)
    const [ada, bo, dee] = survivors as [Group, Group, Group]
    await new Promise<void>((resolve) => {
      ada.on('link', ({ state }) => {
        if (state === 'closed') resolve()
      })
    })
    const stop = new AbortController()
    const first = errorsOf([
      ada.allreduce(Int32Array.of(1), { signal: stop.signal }),
      ...[bo, dee].map((group) => group.allreduce(Int32Array.of(1))),
    ])
    stop.abort()
    const errors = await first
    expect(errors[0]?.message).toMatch(/before it began/)
    for (const error of errors) expect(error).toMatchObject({ code: 'ABORTED' })
    const second = await Promise.all(survivors.map((group) => group.allreduce(Int32Array.of(2))))
    for (const { data } of second) expect(data[0]).toBe(6)
  })

  it('a member that leaves between ops is no error', async () => {
    const room = createMemoryRoom()
    const groups = ['Ada', 'Bo', 'Cem'].map((name) => room.join(name))
    await whenTogether(groups)
    await Promise.all(groups.map((group) => group.allreduce(Int32Array.of(1))))
    await groups[1]!.leave()
    await expect(groups[1]!.allreduce(Int32Array.of(1))).rejects.toMatchObject({ code: 'LEFT' })
    const results = await Promise.all(
      [groups[0]!, groups[2]!].map((group) => group.allreduce(Int32Array.of(1))),
    )
    for (const { data } of results) expect(data[0]).toBe(2)
  })

  it('a member that leaves at once after an op leaves with the result that the others get', async () => {
    const clock = new VirtualClock()
    const room = createMemoryRoom({ clock, latency: 0.05, bandwidth: 1e6, measure: false })
    const groups = ['Ada', 'Bo', 'Cem'].map((name) => room.join(name))
    await inVirtualTime(clock, whenTogether(groups))
    const data = new Int32Array(100_000).fill(1)
    const results = await inVirtualTime(
      clock,
      Promise.all(
        groups.map(async (group) => {
          const result = await group.allreduce(data, { algorithm: 'star', timeoutMs: 60_000 })
          await group.leave()
          return result
        }),
      ),
    )
    for (const { data: sum, report } of results) {
      expect(sum[0]).toBe(3)
      expect(report.contributors.length).toBe(3)
    }
  })

  it('passes small messages between members', async () => {
    const groups = await createMemoryGroup(3)
    const heard = groups.map(() => [] as unknown[])
    for (const [rank, group] of groups.entries())
      group.on('message', ({ from, data }) => heard[rank]!.push([from.name, data]))
    groups[0]!.tell({ hello: 1 })
    groups[1]!.tell('only you', groups[2]!.peerId)
    await Promise.all(groups.map((group) => group.barrier()))
    expect(heard).toEqual([
      [],
      [['Rank 0', { hello: 1 }]],
      [
        ['Rank 0', { hello: 1 }],
        ['Rank 1', 'only you'],
      ],
    ])
  })
})
