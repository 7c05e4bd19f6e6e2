import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { ArgumentError } from '../../../shared/base/errors.ts'
import { createMemoryNetwork, type MemoryNetworkOptions } from '../../../shared/transport/memory.ts'
import { describeTransport, observe, pattern, type TransportFixture } from '../../compliance/transport.ts'

function fixture(options: MemoryNetworkOptions): () => TransportFixture {
  return () => {
    const network = createMemoryNetwork(options)
    return { create: network.transport, vanish: network.kill, dispose() {} }
  }
}

describeTransport('memory, no delay', fixture({}), { highMark: 1024 * 1024 })
describeTransport(
  'memory, 2 ms and 400 MB/s',
  fixture({ latency: 0.002, jitter: 0.002, bandwidth: 400e6, highMark: 512 * 1024 }),
  { highMark: 512 * 1024, bulkBytes: 16 * 1024 * 1024 },
)

/** Lets all microtasks run. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 0))

/** Runs the clock dry, or up to `until`. */
async function run(clock: VirtualClock, until = Number.POSITIVE_INFINITY): Promise<void> {
  await settle()
  for (let next = clock.next(); next !== undefined && next <= until; next = clock.next()) {
    clock.step()
    await settle()
  }
}

async function pairOf(options: MemoryNetworkOptions = {}) {
  const clock = new VirtualClock()
  const network = createMemoryNetwork({ clock, ...options })
  const a = observe(network.transport('a'))
  const b = observe(network.transport('b'))
  a.transport.want(['b'])
  b.transport.want(['a'])
  await run(clock)
  return { clock, network, a, b }
}

describe('memory network', () => {
  it('delivers at the time that latency and bandwidth give', async () => {
    const { clock, a, b } = await pairOf({ latency: 0.005, bandwidth: 1e6 })
    const start = clock.now()
    const times: number[] = []
    b.transport.receive({ message: () => times.push(clock.now() - start), drain() {} })
    for (let at = 0; at < 3; at++) a.link('b').send(new Uint8Array(1000))
    await run(clock)
    expect(times.map((time) => Math.round(time * 1e6))).toEqual([6000, 7000, 8000])
  })

  it('changes the shape of one link only, from the next message on, and keeps the order', async () => {
    const { clock, network, a, b } = await pairOf({ latency: 0.005 })
    a.link('b').send(pattern(4, 1))
    network.shape('b', 'a', { latency: 0 })
    a.link('b').send(pattern(4, 2))
    const start = clock.now()
    await run(clock)
    expect(clock.now() - start).toBeCloseTo(0.005, 9)
    expect(b.received.map(({ message }) => message)).toEqual([pattern(4, 1), pattern(4, 2)])
    b.link('a').send(pattern(4, 3))
    await settle()
    expect(a.received).toHaveLength(1)
  })

  it('repeats itself for the same seed, and differs for another', async () => {
    const times = async (seed: number) => {
      const { clock, a, b } = await pairOf({ seed, latency: 0.001, jitter: 0.01 })
      const arrivals: number[] = []
      b.transport.receive({ message: () => arrivals.push(clock.now()), drain() {} })
      for (let at = 0; at < 20; at++) a.link('b').send(pattern(4, at))
      await run(clock)
      return arrivals
    }
    expect(await times(7)).toEqual(await times(7))
    expect(await times(7)).not.toEqual(await times(8))
  })

  it('holds everything to and from a frozen peer, and lets it go in order', async () => {
    const { clock, network, a, b } = await pairOf({ highMark: 100 })
    network.freeze('b')
    b.link('a').send(pattern(4, 9))
    expect(a.link('b').send(pattern(80, 1))).toBe(true)
    expect(a.link('b').send(pattern(80, 2))).toBe(false)
    await run(clock)
    expect(a.link('b').bufferedBytes).toBe(160)
    expect([a.received, b.received, a.drains]).toEqual([[], [], []])
    network.thaw('b')
    await run(clock)
    expect(b.received.map(({ message }) => message)).toEqual([pattern(80, 1), pattern(80, 2)])
    expect(a.received).toHaveLength(1)
    expect(a.drains).toEqual(['b'])
    expect(a.closed).toEqual([])
  })

  it('tells a frozen peer of a close after it wakes', async () => {
    const { clock, network, a, b } = await pairOf()
    network.freeze('b')
    a.transport.want([])
    a.transport.want(['b'])
    await run(clock)
    expect(b.closed).toEqual([])
    network.thaw('b')
    await run(clock)
    expect(b.closed).toHaveLength(1)
    b.transport.want(['a'])
    await run(clock)
    expect(a.transport.link('b')).toBeDefined()
  })

  it('cuts a link until it is mended', async () => {
    const { clock, network, a, b } = await pairOf({ noticeSeconds: 3 })
    const start = clock.now()
    network.cut('b', 'a')
    a.link('b').send(pattern(4, 1))
    await run(clock, start + 2.9)
    expect(a.closed).toEqual([])
    await run(clock, start + 3)
    expect(a.closed).toMatchObject([{ peerId: 'b', error: { code: 'CHANNEL_CLOSED' } }])
    expect(b.closed).toMatchObject([{ peerId: 'a' }])
    expect(b.received).toEqual([])
    a.transport.want(['b'])
    b.transport.want(['a'])
    await run(clock)
    expect(a.transport.statuses()).toMatchObject([{ state: 'closed', error: { code: 'ICE_FAILED' } }])
    network.mend('a', 'b')
    a.transport.want(['b'])
    b.transport.want(['a'])
    await run(clock)
    expect(a.transport.link('b')).toBeDefined()
  })

  it('can break a link so that nobody ever notices', async () => {
    const { clock, network, a } = await pairOf({ noticeSeconds: Number.POSITIVE_INFINITY, highMark: 10 })
    network.cut('a', 'b')
    expect(a.link('b').send(pattern(11, 1))).toBe(false)
    await run(clock)
    expect(a.closed).toEqual([])
    expect(a.drains).toEqual([])
    expect(a.link('b').bufferedBytes).toBe(11)
  })

  it('kills a peer at an exact message', async () => {
    let deliveries = 0
    const { clock, network, a, b } = await pairOf({
      onDeliver({ to }) {
        if (++deliveries === 3) network.kill(to)
      },
    })
    for (let at = 0; at < 5; at++) a.link('b').send(pattern(4, at))
    await run(clock)
    expect(b.received).toHaveLength(2)
    expect(b.closed).toEqual([])
    expect(a.closed).toMatchObject([{ peerId: 'b', error: { message: 'Link to b: b vanished.' } }])
    const next = observe(network.transport('b'))
    a.transport.want(['b'])
    next.transport.want(['a'])
    await run(clock)
    expect(a.transport.link('b')).toBeDefined()
  })

  it('refuses the same id twice', () => {
    const network = createMemoryNetwork()
    network.transport('a')
    expect(() => network.transport('a')).toThrow(ArgumentError)
  })
})
