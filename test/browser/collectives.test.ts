/** Every collective in a real Chromium: among peers of one page, on its thread and in workers. */
import { inject } from 'vitest'
import { type JoinOptions, join } from '../../client/index.ts'
import { describeCollectives } from '../compliance/collectives.ts'
import { until } from '../compliance/transport.ts'

async function meet(workers: readonly NonNullable<JoinOptions['worker']>[]) {
  const url = inject('serverUrl')
  const enter = (at: number, more: JoinOptions) => join({ url, seats: null, worker: workers[at]!, ...more })
  const first = await enter(0, { until: 'seat' })
  const size = workers.length
  const others = await Promise.all(workers.slice(1).map((_, at) => enter(at + 1, { room: first.room, size })))
  const all = [first, ...others]
  await until('the first', () => first.state === 'ready' && first.size === size)
  return {
    groups: all.sort((a, b) => a.rank - b.rank),
    async close() {
      await Promise.all(all.map((group) => group.leave()))
    },
  }
}

describeCollectives('on the thread of a page', () => meet([false, false, false]))
describeCollectives('in workers of a page, and beside one that is not', () => meet(['auto', 'auto', false]))
