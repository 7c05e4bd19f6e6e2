import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import { decodeFrame } from '../../../shared/wire/frame.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

const latency = 5e-3

/** A group on links that take a while, and what travels on them. */
async function group(size: number) {
  const clock = new VirtualClock()
  const kinds: string[] = []
  const room = createMemoryRoom({
    clock,
    latency,
    measure: false,
    onDeliver: ({ message }) => kinds.push(decodeFrame(message).kind),
  })
  const groups = Array.from({ length: size }, (_, rank) => room.join(`rank ${rank}`))
  await inVirtualTime(clock, whenTogether(groups))
  /** Seconds that an allreduce takes, and the frames that it needs. */
  const run = async (algorithm: string) => {
    kinds.length = 0
    const begin = clock.now()
    const calls = groups.map((one) => one.allreduce(new Float32Array(106).fill(1), { algorithm }))
    await inVirtualTime(clock, Promise.all(calls))
    return { seconds: clock.now() - begin, kinds: [...kinds] }
  }
  return { run }
}

describe('an op of a few bytes', () => {
  for (const [algorithm, steps, messages] of [
    ['one-shot', 1, 7 * 6],
    ['two-shot', 2, 2 * 7 * 6],
    ['ring', 12, 12 * 7],
  ] as const)
    it(`takes one frame a message and one latency a step, and waits for no timer: ${algorithm}`, async () => {
      const { run } = await group(7)
      await run(algorithm)
      for (let i = 0; i < 3; i++) {
        const { seconds, kinds } = await run(algorithm)
        expect(seconds).toBeCloseTo(steps * latency, 9)
        expect(kinds).toEqual(new Array(messages).fill('data'))
      }
    })
})
