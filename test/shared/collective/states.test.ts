/** What newcomers get before they take part: the state of the others, as it is between their ops. */
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { AbortedError, PeerLostError } from '../../../shared/base/errors.ts'
import { createMemoryRoom, type MemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { createHasher } from '../../../shared/wire/hash.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

interface World {
  readonly clock: VirtualClock
  readonly room: MemoryRoom
  readonly groups: readonly Group[]
}

async function meet(size: number, options: { bandwidth?: number; measure?: boolean } = {}): Promise<World> {
  const clock = new VirtualClock()
  const room = createMemoryRoom({ clock, latency: 0.005, ...options })
  const groups = Array.from({ length: size }, (_, rank) => room.join(`Rank ${rank}`))
  await inVirtualTime(clock, whenTogether(groups))
  return { clock, room, groups }
}

/** A member whose state is the list of all results so far. */
function createPeer(group: Group) {
  let history: number[] = []
  group.offerState(() => Uint8Array.from(history))
  return {
    get history() {
      return history
    },
    async enter() {
      const received = await group.receiveState()
      if (received) history = [...received.data]
      return received
    },
    async step() {
      const { data, report } = await group.allreduce(Uint8Array.of(1))
      history.push(data[0]!)
      return report
    },
  }
}

describe('the state of the others', () => {
  it.each([true, false])(
    'is nobody’s for those who begin, and comes before the first op of a newcomer (measured: %s)',
    async (measure) => {
      const { clock, room, groups } = await meet(3, { measure })
      const peers = groups.map(createPeer)
      expect(await inVirtualTime(clock, Promise.all(peers.map((peer) => peer.enter())))).toEqual([
        undefined,
        undefined,
        undefined,
      ])
      const run = async (peer: (typeof peers)[number], until: number) => {
        while (peer.history.length < until) await peer.step()
      }
      const running = peers.map((peer) => run(peer, 60))
      const arriving = (async () => {
        for (const name of ['Late', 'Later']) {
          await new Promise<void>((resolve) => clock.after(0.1, resolve))
          const group = room.join(name)
          const peer = createPeer(group)
          peers.push(peer)
          running.push(
            peer.enter().then((received) => {
              expect(received!.from.name).toBe('Rank 0')
              expect(received!.epoch).toBe(group.epoch)
              expect(received!.hash).toBe(createHasher().add(received!.data).digest())
              // Nothing of the epoch has happened without it.
              expect(received!.data.at(-1)).toBe(group.size - 1)
              return run(peer, 60)
            }),
          )
        }
      })()
      await inVirtualTime(clock, arriving)
      await inVirtualTime(clock, Promise.all(running))
      expect(peers).toHaveLength(5)
      for (const { history } of peers) expect(history).toEqual(peers[0]!.history)
      expect(new Set(peers[0]!.history)).toEqual(new Set([3, 4, 5]))
    },
  )

  it('holds nobody up who makes no call', async () => {
    const { clock, room, groups } = await meet(3, { bandwidth: 1e6 })
    // Three seconds of the line.
    for (const group of groups) group.offerState(() => new Uint8Array(3_000_000).fill(7))
    const late = room.join('Late')
    const got = late.receiveState()
    await inVirtualTime(clock, whenTogether([...groups, late]))
    const begun = clock.now()
    const received = (await inVirtualTime(clock, got))!
    expect(received.data.every((byte) => byte === 7)).toBe(true)
    expect(clock.now() - begun).toBeLessThan(4)
    const all = [...groups, late].map((group) => group.barrier())
    const reports = await inVirtualTime(clock, Promise.all(all))
    for (const { seconds } of reports) expect(seconds).toBeLessThan(0.1)
  })

  it('goes to several newcomers at once, from the first that has it', async () => {
    const { clock, room, groups } = await meet(2)
    groups[1]!.offerState(async () => Uint8Array.of(1, 2, 3))
    const late = ['A', 'B', 'C'].map((name) => room.join(name))
    const all = await inVirtualTime(clock, Promise.all(late.map((group) => group.receiveState())))
    for (const received of all)
      expect(received).toMatchObject({ data: Uint8Array.of(1, 2, 3), from: { name: 'Rank 1' } })
    await inVirtualTime(clock, Promise.all([...groups, ...late].map((group) => group.barrier())))
  })

  it('comes from another member when the first is lost on the way', async () => {
    const { clock, room, groups } = await meet(3, { bandwidth: 1e6 })
    for (const [rank, group] of groups.entries()) group.offerState(() => new Uint8Array(2_000_000).fill(rank))
    const late = room.join('Late')
    const got = late.receiveState()
    await inVirtualTime(clock, whenTogether([...groups, late]))
    clock.after(1, () => void groups[0]!.leave())
    expect(await inVirtualTime(clock, got)).toMatchObject({ from: { name: 'Rank 1' } })
    const rest = [groups[1]!, groups[2]!, late]
    const sums = await inVirtualTime(
      clock,
      Promise.all(rest.map((group) => group.allreduce(Int32Array.of(1)))),
    )
    expect(sums.map(({ data }) => data[0])).toEqual([3, 3, 3])
  })

  it('ends with a typed error when it cannot come, and ops go on', async () => {
    const { clock, room, groups } = await meet(2, { bandwidth: 1e6 })
    groups[0]!.offerState(() => new Uint8Array(2_000_000))
    const late = room.join('Late')
    const got = late.receiveState().catch((error: unknown) => error)
    await inVirtualTime(clock, whenTogether([...groups, late]))
    clock.after(1, () => void groups[0]!.leave())
    expect(await inVirtualTime(clock, got)).toBeInstanceOf(PeerLostError)

    groups[1]!.offerState(() => {
      throw new Error('no state today')
    })
    const later = room.join('Later')
    const failed = later.receiveState().catch((error: unknown) => error)
    const error = await inVirtualTime(clock, failed)
    expect(error).toBeInstanceOf(AbortedError)
    expect(error).toMatchObject({ message: expect.stringContaining('no state today') })
    const rest = [groups[1]!, late, later]
    const sums = await inVirtualTime(
      clock,
      Promise.all(rest.map((group) => group.allreduce(Int32Array.of(1)))),
    )
    expect(sums.map(({ data }) => data[0])).toEqual([3, 3, 3])
  })
})
