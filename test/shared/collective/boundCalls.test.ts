/** Calls that are bound to an epoch: refused alike on all ranks when the members have changed, and without taking a number. */
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { EpochError } from '../../../shared/base/errors.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import { createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

const one = () => new Int32Array([1])

/** Tries to sum 1s with exactly the members of `epoch`; counts them anew when the members have changed. */
async function count(group: Group, epoch: number): Promise<{ sum: number; refused: number }> {
  for (let refused = 0, wanted = epoch; ; refused++)
    try {
      const { data } = await group.allreduce(one(), { epoch: wanted, name: `of ${wanted}` })
      return { sum: data[0]!, refused }
    } catch (error) {
      if (!(error instanceof EpochError)) throw error
      wanted = error.epoch
    }
}

describe('a call bound to an epoch', () => {
  it('runs while the members are the same', async () => {
    const room = createMemoryRoom({ measure: false })
    const groups = ['Ada', 'Bo', 'Cy'].map((name) => room.join(name))
    await whenTogether(groups)
    const counts = await Promise.all(groups.map((group) => count(group, group.epoch)))
    expect(counts).toEqual(groups.map(() => ({ sum: 3, refused: 0 })))
  })

  it('lets the next unbound call meet the newcomer, as if it had not been made', async () => {
    const room = createMemoryRoom({ measure: false })
    const groups = ['Ada', 'Bo'].map((name) => room.join(name))
    await whenTogether(groups)
    const before = groups[0]!.epoch
    groups.push(room.join('Cy'))
    await whenTogether(groups)
    const [ada, bo, cy] = groups as [Group, Group, Group]
    for (const group of [ada, bo])
      await expect(group.allreduce(one(), { epoch: before })).rejects.toThrow(EpochError)
    const sums = await Promise.all([ada, bo, cy].map((group) => group.allreduce(one(), { name: 'together' })))
    expect(sums.map(({ data }) => data[0])).toEqual([3, 3, 3])
  })

  it.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'is refused by all old members or by none, whenever the newcomer comes (seed %i)',
    async (seed) => {
      const clock = new VirtualClock()
      const room = createMemoryRoom({ clock, seed, latency: 0.01, jitter: 0.02, measure: false })
      const groups = ['Ada', 'Bo', 'Cy'].map((name) => room.join(name))
      await inVirtualTime(clock, whenTogether(groups))
      const { epoch } = groups[0]!
      const random = createPrng(seed)
      const after = (seconds: number) =>
        new Promise<void>((resolve) => void clock.after(seconds, () => resolve()))
      let newcomer: Group | undefined
      const joined = after(random.next() * 0.2).then(() => {
        newcomer = room.join('Dee')
        return whenTogether([...groups, newcomer])
      })
      const old = groups.map(async (group) => {
        await after(random.next() * 0.2)
        const first = await count(group, epoch)
        await joined
        // Those who were too early for the newcomer's first call make it now.
        return { first, last: first.sum === 4 ? first : await count(group, group.epoch) }
      })
      const fresh = joined.then(() => count(newcomer!, newcomer!.epoch))
      const [ada, bo, cy, dee] = await inVirtualTime(clock, Promise.all([old[0]!, old[1]!, old[2]!, fresh]))
      expect([3, 4]).toContain(ada.first.sum)
      expect(bo).toEqual(ada)
      expect(cy).toEqual(ada)
      expect([ada.last.sum, dee.sum]).toEqual([4, 4])
    },
  )
})
