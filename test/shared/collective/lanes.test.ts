import { expect, it } from 'vitest'
import { createLanes } from '../../../shared/collective/lanes.ts'
import { createMemoryNetwork } from '../../../shared/transport/memory.ts'

it('sizes windows and segments by what was measured, whatever that was', async () => {
  const network = createMemoryNetwork()
  const [here, there] = [network.transport('here'), network.transport('there')]
  const segmentBytes = 65_472
  const lanes = await new Promise<ReturnType<typeof createLanes>>((resolve) => {
    const made = createLanes({
      transport: here,
      options: { segmentBytes, oldestOp: () => 0, settledBelow: () => 0 },
      onFrame: () => {},
      onLinked: () => resolve(made),
      onUnlinked: () => {},
      onFailed: () => {},
      onOffence: () => {},
    })
    here.want(['there'])
    there.want(['here'])
  })
  const lane = lanes.get('there')!
  const tuned = (latency: number, secondsPerByte: number) => {
    lanes.tune([
      { peerId: 'there', latency, secondsPerByte },
      { peerId: 'nobody', latency, secondsPerByte },
    ])
    return { window: lane.windowBytes, segment: lane.segmentBytes }
  }
  // No round trip to speak of.
  expect(tuned(1e-4, 2e-8)).toEqual({ window: 2 ** 20, segment: segmentBytes })
  // 10 ms there and back, 50 Mbit/s: 62.5 KB on the line.
  expect(tuned(5e-3, 1.6e-7)).toEqual({ window: 250_000, segment: 16_384 })
  // More than any line holds, and less.
  expect(tuned(0.3, 1e-12)).toMatchObject({ window: 4 * 2 ** 20, segment: segmentBytes })
  expect(tuned(5e-3, 1)).toMatchObject({ window: 2 ** 17, segment: 16_384 })
})
