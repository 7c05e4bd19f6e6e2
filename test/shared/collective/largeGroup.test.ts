/** Groups that do not keep all links, in virtual time. */
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { createMemoryRoom, type MemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { linksOf } from '../../../shared/schedule/links.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

interface World {
  readonly clock: VirtualClock
  readonly room: MemoryRoom
  readonly groups: Group[]
}

async function openGroup(size: number): Promise<World> {
  const clock = new VirtualClock()
  // Large groups do not measure; small ones need not here.
  const room = createMemoryRoom({ clock, latency: 0.005, measure: false })
  const groups = Array.from({ length: size }, (_, rank) => room.join(`Rank ${rank}`))
  await inVirtualTime(clock, whenTogether(groups))
  return { clock, room, groups }
}

const openLinks = (group: Group) => group.links().filter(({ state }) => state === 'open').length
/** Exact in float32 for these sizes. */
const sumTo = (size: number) => (size * (size - 1)) / 2
const input = (rank: number, count = 300) => Float32Array.from({ length: count }, (_, i) => rank + (i % 7))

describe.each([33, 100])('%i members', (size) => {
  it('keep O(log P) links, agree, and reduce exactly with every algorithm that they may use', async () => {
    const { clock, groups } = await openGroup(size)
    for (const [rank, group] of groups.entries()) {
      expect(group.rank).toBe(rank)
      expect(openLinks(group)).toBe(linksOf(size, rank).length)
      expect(openLinks(group)).toBeLessThanOrEqual(4 * Math.ceil(Math.log2(size)))
    }
    for (const options of [
      {},
      { algorithm: 'butterfly', r: 0 },
      { algorithm: 'ring' },
      { algorithm: 'double-tree' },
    ]) {
      const calls = groups.map((group, rank) => group.allreduce(input(rank), { op: 'sum', ...options }))
      for (const { data, report } of await inVirtualTime(clock, Promise.all(calls))) {
        expect(report.contributors).toHaveLength(size)
        for (const i of [0, 1, 6, 299]) expect(data[i]).toBe(sumTo(size) + size * (i % 7))
      }
    }
    for (const group of groups) expect(openLinks(group)).toBe(linksOf(size, 0).length)
  })
})

describe('a large group', () => {
  it('tells all and one, also where there is no link', async () => {
    const { clock, groups } = await openGroup(40)
    const heard = groups.map(() => [] as string[])
    for (const [rank, group] of groups.entries())
      group.on('message', ({ from, data }) => heard[rank]!.push(`${from.name}: ${data}`))
    for (let i = 0; i < 3; i++) groups[3]!.tell(`all ${i}`)
    for (const [rank, { peerId }] of groups.entries()) if (rank !== 3) groups[3]!.tell(`you ${rank}`, peerId)
    clock.after(1, () => {})
    await inVirtualTime(clock, new Promise<void>((resolve) => clock.after(1, resolve)))
    for (const [rank, messages] of heard.entries()) {
      if (rank === 3) expect(messages).toEqual([])
      else {
        expect(messages.filter((text) => text.includes('all'))).toEqual(
          [0, 1, 2].map((i) => `Rank 3: all ${i}`),
        )
        expect(messages.filter((text) => text.includes('you'))).toEqual([`Rank 3: you ${rank}`])
      }
    }
  })

  it('fails an op on all ranks alike when one of them stops it', async () => {
    const { clock, groups } = await openGroup(40)
    const controller = new AbortController()
    const calls = groups.map((group, rank) =>
      rank === 20 ? undefined : group.allreduce(input(rank), rank === 7 ? { signal: controller.signal } : {}),
    )
    clock.after(0.5, () => controller.abort())
    const ends = await inVirtualTime(clock, Promise.allSettled(calls.filter((call) => call !== undefined)))
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'ABORTED' } })
    expect(clock.now()).toBeLessThan(2)
  })

  it('broadcasts and gathers from and to a member in the middle, over links that are opened for it', async () => {
    const { clock, groups } = await openGroup(40)
    const root = 23
    const sent = await inVirtualTime(
      clock,
      Promise.all(groups.map((group, rank) => group.broadcast(input(rank === root ? 5 : 0, 50), { root }))),
    )
    for (const { data } of sent) expect(data).toEqual(input(5, 50))
    const gathered = await inVirtualTime(
      clock,
      Promise.all(groups.map((group, rank) => group.gather(Int32Array.of(rank), { root }))),
    )
    expect(gathered[root]!.data).toEqual(Int32Array.from({ length: 40 }, (_, rank) => rank))
  })

  it.each([5, 500])('loses a member in an op of %i elements, and the survivors finish it', async (count) => {
    const { clock, room, groups } = await openGroup(40)
    const lost = 11
    const survivors = groups.filter((_, rank) => rank !== lost)
    const calls = groups.map((group, rank) => group.allreduce(input(rank, count), { timeoutMs: 60_000 }))
    calls[lost]!.catch(() => {})
    clock.after(0.012, () => room.network.kill(groups[lost]!.peerId))
    const ends = await inVirtualTime(clock, Promise.all(calls.filter((_, rank) => rank !== lost)))
    const [first] = ends
    for (const { data, report } of ends) {
      expect(data).toEqual(first!.data)
      expect(report.contributors).toEqual(first!.report.contributors)
    }
    const isIn = first!.report.contributors.length === 40
    expect(first!.data[0]).toBe(sumTo(40) - (isIn ? 0 : lost))
    await inVirtualTime(clock, whenTogether(survivors))
    const again = survivors.map((group) => group.allreduce(Float32Array.of(1)))
    for (const { data } of await inVirtualTime(clock, Promise.all(again))) expect(data[0]).toBe(39)
    await inVirtualTime(clock, new Promise<void>((resolve) => clock.after(30, resolve)))
    for (const group of survivors) expect(openLinks(group)).toBe(linksOf(39, group.rank).length)
  })

  it('grows out of a small one and shrinks back, with ops in between', async () => {
    const { clock, room, groups } = await openGroup(31)
    for (let i = 0; i < 3; i++) groups.push(room.join(`Rank ${groups.length}`))
    await inVirtualTime(clock, whenTogether(groups))
    const sum = async (members: readonly Group[]) => {
      const calls = members.map((group) => group.allreduce(Int32Array.of(1)))
      for (const { data } of await inVirtualTime(clock, Promise.all(calls)))
        expect(data[0]).toBe(members.length)
    }
    await sum(groups)
    await inVirtualTime(clock, new Promise<void>((resolve) => clock.after(30, resolve)))
    for (const group of groups) expect(openLinks(group)).toBe(linksOf(34, group.rank).length)
    for (const group of groups.splice(10, 3)) await inVirtualTime(clock, group.leave())
    await inVirtualTime(clock, whenTogether(groups))
    await sum(groups)
    for (const group of groups) expect(openLinks(group)).toBe(groups.length - 1)
  })
})
