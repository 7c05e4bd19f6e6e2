/** Every collective in memory and between peers on Node. */
import { join } from '../../client/node.ts'
import { createServer } from '../../server/app.ts'
import { createMemoryGroup } from '../../shared/collective/memoryGroup.ts'
import { describeCollectives } from './collectives.ts'
import { until } from './transport.ts'

describeCollectives('in memory', async () => ({ groups: await createMemoryGroup(4), close: async () => {} }))

describeCollectives('peers on Node', async () => {
  const server = createServer({ port: 0, host: '127.0.0.1' })
  const { port } = await server.listen()
  const url = `http://127.0.0.1:${port}`
  const first = await join({ url, until: 'seat' })
  const others = await Promise.all([1, 2].map(() => join({ url, room: first.room, size: 3 })))
  const all = [first, ...others]
  await until('the first', () => first.state === 'ready' && first.size === 3)
  return {
    groups: all.sort((a, b) => a.rank - b.rank),
    async close() {
      await Promise.all(all.map((group) => group.leave()))
      await server.close()
    },
  }
})
