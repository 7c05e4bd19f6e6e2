import { describe, expect, it } from 'vitest'
import type { RunEvents } from '../../../client/session/runEvents.ts'
import type { RunSpec } from '../../../client/session/runSpec.ts'
import { RunMember } from '../../../client/session/runs.ts'
import { realClock } from '../../../shared/base/clock.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import { FakeNetwork } from './fakeGroups.ts'

const spec: RunSpec = {
  bytes: 400,
  dtype: 'f32',
  op: 'sum',
  consistency: 'fast',
  data: 'real',
  repeats: 1,
  warmup: 0,
  variants: [{ algorithm: 'auto' }],
}

type Seen = { [Name in keyof RunEvents]: { event: Name } & RunEvents[Name] }[keyof RunEvents]
const eventNames: (keyof RunEvents)[] = [
  'present',
  'refused',
  'started',
  'measuring',
  'measured',
  'call',
  'report',
  'result',
  'spread',
  'failed',
  'finished',
]

class Peer {
  readonly seen: Seen[] = []
  readonly member: RunMember

  constructor(network: FakeNetwork, id: string, rank?: number) {
    this.member = new RunMember({
      group: network.join(id, rank),
      clock: realClock,
      prng: createPrng(id.charCodeAt(0)),
      agent: 'Test 1',
      verdicts: new Map(),
      breathe: () => undefined,
    })
    for (const event of eventNames)
      this.member.on(event, (value) => void this.seen.push({ ...value, event } as Seen))
    this.member.start()
  }

  of<Name extends keyof RunEvents>(event: Name): RunEvents[Name][] {
    return this.seen.filter((each) => each.event === event) as unknown as RunEvents[Name][]
  }

  async until<Name extends keyof RunEvents>(event: Name, count = 1): Promise<RunEvents[Name]> {
    for (let turn = 0; turn < 100; turn++) {
      if (this.of(event).length >= count) return this.of(event)[count - 1]!
      await new Promise((resolve) => setImmediate(resolve))
    }
    throw new Error(`no ${event} after ${this.seen.map((each) => each.event).join(' ')}`)
  }
}

function createPeers(count: number): { network: FakeNetwork; peers: Peer[] } {
  const network = new FakeNetwork()
  const peers = Array.from({ length: count }, (_, rank) => new Peer(network, String.fromCharCode(97 + rank)))
  return { network, peers }
}

describe('RunMember', () => {
  it('runs alone', async () => {
    const { peers } = createPeers(1)
    peers[0]!.member.request('q', spec)
    expect(await peers[0]!.until('finished')).not.toHaveProperty('error')
    expect(peers[0]!.of('result')[0]!.result).toMatchObject({ wrong: 0, contributors: ['a'] })
  })

  it('runs what any member asks for, on all, and everybody sees the same results', async () => {
    const { peers, network } = createPeers(5)
    const requestId = 'q1'
    peers[3]!.member.request(requestId, {
      ...spec,
      repeats: 2,
      warmup: 1,
      variants: [
        { algorithm: 'butterfly', r: 0 },
        { algorithm: 'butterfly', r: 1 },
      ],
    })
    for (const peer of peers) {
      const { runId } = await peer.until('finished')
      expect(peer.of('started')).toMatchObject([{ requestId, by: 'd', runId }])
      expect(peer.of('call').map(({ variant, repeat, isWarmup }) => [variant, repeat, isWarmup])).toEqual([
        [0, 0, true],
        [1, 0, true],
        [0, 0, false],
        [1, 0, false],
        [0, 1, false],
        [1, 1, false],
      ])
      const results = peer.of('result')
      expect(results.map(({ peerId, result }) => `${peerId}${result.variant}`).sort()).toEqual(
        ['a', 'b', 'c', 'd', 'e'].flatMap((id) => [`${id}0`, `${id}1`]),
      )
      expect(results.every(({ result }) => result.wrong === 0 && result.seconds.length === 2)).toBe(true)
      expect(new Set(results.map(({ result }) => result.hash)).size).toBe(1)
      expect(peer.of('report')).toHaveLength(4)
      expect(peer.of('spread')).toHaveLength(0)
    }
    const calls = [...network.calls.values()]
    for (const each of calls) expect(each).toEqual(calls[0])
  })

  it('counts wrong elements and measures how far apart the ranks are', async () => {
    const { peers, network } = createPeers(3)
    network.faults.corrupt = (peerId, result, options) => {
      if (options.name?.includes('call') && peerId === 'c') result[5]! += 1
    }
    peers[1]!.member.request('q', spec)
    for (const peer of peers) {
      await peer.until('finished')
      expect(peer.of('result').map(({ peerId, result }) => [peerId, result.wrong])).toContainEqual(['c', 1])
      const [spread] = peer.of('spread')
      expect(spread?.spread).toMatchObject({ elements: 1, compared: 100 })
      expect(spread?.spread.ulps).toBeGreaterThan(1000)
    }
  })

  it('waits with a start until every member follows orders', async () => {
    const network = new FakeNetwork()
    const first = new Peer(network, 'a')
    network.join('b')
    first.member.request('q', spec)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(first.of('started')).toHaveLength(0)
    network.lose('b')
    await first.until('finished')
  })

  it('ends on all ranks when a peer is lost, naming it, and the next run works', async () => {
    const { peers, network } = createPeers(4)
    network.faults.corrupt = (peerId) => {
      if (peerId === 'b') network.lose('c')
    }
    peers[1]!.member.request('q', { ...spec, repeats: 5 })
    const alive = [peers[0]!, peers[1]!, peers[3]!]
    for (const peer of alive)
      expect((await peer.until('finished')).error).toMatchObject({ peers: expect.arrayContaining(['c']) })
    network.faults = {}
    peers[3]!.member.request('q', spec)
    for (const peer of alive) {
      expect(await peer.until('finished', 2)).not.toHaveProperty('error')
      expect(peer.of('result').at(-1)!.result.contributors).toEqual(['a', 'b', 'd'])
    }
  })

  it('goes on without a peer that is lost before the first call', async () => {
    const { peers, network } = createPeers(4)
    peers[1]!.member.on('started', () => queueMicrotask(() => network.lose('c')))
    peers[1]!.member.request('q', { ...spec, repeats: 3 })
    for (const peer of [peers[0]!, peers[1]!, peers[3]!]) {
      expect(await peer.until('finished')).not.toHaveProperty('error')
      expect(peer.of('result').at(-1)!.result.contributors).toEqual(['a', 'b', 'd'])
    }
  })

  it('goes on to the end of the call when the leader is lost, and the new rank 0 leads', async () => {
    const { peers, network } = createPeers(4)
    network.faults.corrupt = (peerId) => {
      if (peerId === 'b') network.lose('a')
    }
    peers[2]!.member.request('q', spec)
    for (const peer of peers.slice(1)) {
      expect(await peer.until('finished')).not.toHaveProperty('error')
      expect(peer.of('result').map(({ peerId }) => peerId)).toEqual(expect.arrayContaining(['b', 'c', 'd']))
      expect(peer.of('call')).toHaveLength(1)
    }
    network.faults = {}
    peers[3]!.member.request('q', spec)
    for (const peer of peers.slice(1)) {
      expect(await peer.until('finished', 2)).not.toHaveProperty('error')
      expect(peer.of('result').at(-1)!.result.contributors).toEqual(['b', 'c', 'd'])
    }
  })

  it('loses its leaders one after the other', async () => {
    const { peers, network } = createPeers(4)
    network.faults.corrupt = (peerId) => {
      if (peerId === 'c') network.lose('a')
      if (peerId === 'd') network.lose('b')
    }
    peers[2]!.member.request('q', spec)
    for (const peer of peers.slice(2)) expect(await peer.until('finished')).not.toHaveProperty('error')
  })

  it('begins without a leader that is lost before the first call', async () => {
    const { peers, network } = createPeers(4)
    peers[3]!.member.on('started', () => queueMicrotask(() => network.lose('a')))
    peers[1]!.member.request('q', { ...spec, repeats: 3 })
    for (const peer of peers.slice(1)) {
      expect(await peer.until('finished')).not.toHaveProperty('error')
      expect(peer.of('call').map(({ index }) => index)).toEqual([0, 1, 2])
      expect(peer.of('result').at(-1)!.result.contributors).toEqual(['b', 'c', 'd'])
    }
  })

  it('is led to the end when the lost leader comes back meanwhile, and then by that', async () => {
    const { peers, network } = createPeers(3)
    let back: Peer | undefined
    network.faults.corrupt = (peerId) => {
      if (peerId !== 'b') return
      network.faults = {}
      network.lose('a')
      back = new Peer(network, 'a', 0)
    }
    peers[2]!.member.request('q', spec)
    for (const peer of peers.slice(1)) expect(await peer.until('finished')).not.toHaveProperty('error')
    peers[2]!.member.request('q', spec)
    expect(await back!.until('finished')).not.toHaveProperty('error')
    for (const peer of peers.slice(1)) {
      expect(await peer.until('finished', 2)).not.toHaveProperty('error')
      expect(peer.of('result').at(-1)!.result.contributors).toEqual(['a', 'b', 'c'])
    }
  })

  it('gives way to a run that the lost leader begins when it is back', async () => {
    const { peers, network } = createPeers(3)
    let back: Peer | undefined
    peers[1]!.member.on('call', () => {
      if (back) return
      network.lose('a')
      back = new Peer(network, 'a', 0)
      back.member.request('q', spec)
    })
    peers[2]!.member.request('q', { ...spec, repeats: 3 })
    for (let turn = 0; turn < 100 && !back; turn++) await new Promise((resolve) => setImmediate(resolve))
    for (const peer of [...peers.slice(1), back!]) {
      await peer.until('finished')
      expect(peer.of('finished').at(-1)).toMatchObject({ runId: peers[1]!.of('started').at(-1)!.runId })
    }
  })

  it('ends between calls when the leader is lost, naming it', async () => {
    const { peers, network } = createPeers(3)
    network.faults.corrupt = (peerId) => {
      if (peerId === 'b') network.lose('a')
    }
    peers[2]!.member.request('q', { ...spec, repeats: 5 })
    for (const peer of peers.slice(1)) expect((await peer.until('finished')).error?.peers).toEqual(['a'])
    network.faults = {}
    peers[2]!.member.request('q', spec)
    for (const peer of peers.slice(1)) expect(await peer.until('finished', 2)).not.toHaveProperty('error')
  })

  it('ends when somebody joins in the middle', async () => {
    const { peers, network } = createPeers(2)
    let joined = false
    network.faults.corrupt = (peerId) => {
      if (peerId !== 'b' || joined) return
      joined = true
      new Peer(network, 'z')
    }
    peers[0]!.member.request('q', { ...spec, repeats: 5 })
    for (const peer of peers)
      expect((await peer.until('finished')).error).toMatchObject({ code: 'MEMBERS_CHANGED', peers: ['z'] })
  })

  it('stops on all ranks when anybody asks, and nobody leaves out a call', async () => {
    const { peers, network } = createPeers(3)
    const [a, b, c] = peers as [Peer, Peer, Peer]
    c.member.on('call', ({ index, runId }) => {
      if (index === 3) b.member.stop(runId)
    })
    a.member.request('q', { ...spec, repeats: 100 })
    for (const peer of peers)
      expect((await peer.until('finished')).error).toMatchObject({
        code: 'ABORTED',
        message: 'Stopped by B (rank 1).',
      })
    const counts = [...network.groups.values()].map((group) => group.called)
    expect(new Set(counts).size).toBe(1)
    expect(counts[0]).toBeLessThan(20)
    a.member.request('q', spec)
    for (const peer of peers) expect(await peer.until('finished', 2)).not.toHaveProperty('error')
  })

  it('measures links on request, between runs', async () => {
    const { peers } = createPeers(3)
    peers[2]!.member.request('q', { ...spec, repeats: 3 })
    peers[1]!.member.measure()
    peers[1]!.member.request('q', spec)
    for (const peer of peers) {
      await peer.until('finished', 2)
      const order = peer.seen.map((each) => each.event).filter((event) => /started|finished|meas/.test(event))
      expect(order).toEqual(['started', 'finished', 'measuring', 'measured', 'started', 'finished'])
    }
  })

  it('refuses more than eight waiting runs, to the one who asked', async () => {
    const { peers } = createPeers(2)
    for (let i = 0; i < 11; i++) peers[1]!.member.request('q', { ...spec, repeats: 2 })
    await peers[1]!.until('finished', 9)
    expect(peers[1]!.of('refused')).toHaveLength(2)
    expect(peers[0]!.of('refused')).toHaveLength(0)
  })

  it('ignores orders of others than rank 0 and messages that break a rule', async () => {
    const { peers, network } = createPeers(3)
    const forger = network.groups.get('c')!
    forger.tell({
      lab: 1,
      message: { type: 'start', runId: 'x', requestId: 'y', by: 'c', epoch: 3, seed: 1, spec },
    })
    forger.tell({ lab: 1, message: { type: 'request', requestId: 'y', spec: { ...spec, bytes: 2 ** 40 } } })
    forger.tell('nonsense')
    peers[0]!.member.request('q', spec)
    await peers[1]!.until('finished')
    expect(peers[1]!.of('started')).toHaveLength(1)
  })
})
