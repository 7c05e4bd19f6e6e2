import { expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import { latencyOf, tailBeta } from '../../../shared/cost/curve.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

it('finds latency and pace of every link, and the pace of a host, the same on every rank', async () => {
  const clock = new VirtualClock()
  const [latency, bandwidth] = [5e-3, 5e6]
  const room = createMemoryRoom({ clock, latency, bandwidth })
  const groups = ['a', 'b', 'c', 'd'].map((name) => room.join(name))
  await inVirtualTime(clock, whenTogether(groups))
  const models = await inVirtualTime(clock, Promise.all(groups.map((group) => group.measure())))
  for (const model of models) expect(model).toEqual(models[0])
  const { links, hosts, sharedBeta } = models[0]!
  const near = (value: number, wanted: number) => expect(Math.abs(value / wanted - 1)).toBeLessThan(0.05)
  for (const [from, row] of links.entries())
    for (const [to, curve] of row.entries()) {
      if (from === to) continue
      near(latencyOf(curve!), latency)
      near(tailBeta(curve!), 1 / bandwidth)
    }
  // Here each link has a line of its own: alone it is as fast as ever, and all at once are three times as fast.
  for (const { hostBeta } of hosts!) near(hostBeta, 1 / bandwidth)
  expect(sharedBeta).toBeLessThan(1 / (3 * bandwidth))
})
