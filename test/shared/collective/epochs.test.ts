import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import type { Standing } from '../../../shared/collective/control.ts'
import { createEpochs, type Epochs, type Span } from '../../../shared/collective/epochs.ts'
import type { View } from '../../../shared/membership/types.ts'

const told = (called: number) => ({ called, finished: [], suspended: [] })
const member = (peerId: string) => ({ peerId, name: peerId, kind: 'test' })

interface Peer {
  id: string
  epochs: Epochs
  called: number
  spans: Span[]
}

/**
 * Members that gossip over a ring whose links keep their order but not their pace; each sees the views in order, at its own pace, and calls
 * ops whenever it may.
 */
function agree(peers: readonly Peer[], views: readonly View[], seed: number) {
  const prng = createPrng(seed)
  const mail = new Map<string, { to: Peer; epoch: number; standings: Standing[] }[]>()
  const last = new Map<string, string>()
  const neighbours = (peer: Peer) => {
    const at = peers.indexOf(peer)
    return [at + 1, at + peers.length - 1].map((index) => peers[index % peers.length]!)
  }
  const advance = (peer: Peer) => {
    const { epochs } = peer
    if (!epochs.isFrozen && epochs.current && prng.next() < 0.5) peer.called++
    const enter = (span: Span) => {
      peer.called = Math.max(peer.called, span.boundary)
      peer.spans.push(span)
    }
    for (const missed of epochs.catchUp()) enter(missed)
    const span = epochs.settle(() => told(peer.called))
    for (const known of epochs.standings()) {
      const text = JSON.stringify(known)
      if (last.get(`${peer.id} ${known.epoch}`) === text) continue
      last.set(`${peer.id} ${known.epoch}`, text)
      for (const to of neighbours(peer)) {
        const link = mail.get(`${peer.id} ${to.id}`) ?? []
        mail.set(`${peer.id} ${to.id}`, link)
        link.push({ to, ...structuredClone(known) })
      }
    }
    if (span) enter(span)
  }
  const toSee = peers.map((peer) => ({
    peer,
    views: views.filter((view) => view.members.some(({ peerId }) => peerId === peer.id)),
  }))
  for (;;) {
    const blind = toSee.filter((one) => one.views.length > 0)
    const links = [...mail.values()].filter((link) => link.length > 0)
    if (blind.length + links.length === 0) return
    if (blind.length > 0 && (links.length === 0 || prng.next() < 0.2)) {
      const { peer, views: rest } = blind[prng.below(blind.length)]!
      peer.epochs.begin(rest.shift()!)
      advance(peer)
      peer.epochs.ready()
      advance(peer)
    } else {
      const { to, epoch, standings } = links[prng.below(links.length)]!.shift()!
      to.epochs.merge(epoch, standings)
      advance(to)
    }
  }
}

const newPeer = (id: string): Peer => ({ id, epochs: createEpochs(id), called: 0, spans: [] })

describe('createEpochs', () => {
  it('gives all members the same boundary, at or after every op that anyone has called', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer(),
        (old, joining, seed) => {
          const ids = Array.from({ length: old + joining }, (_, i) => `p${i}`)
          const peers = ids.map(newPeer)
          const first = peers.slice(0, old)
          agree(first, [{ epoch: 1, members: ids.slice(0, old).map(member) }], seed)
          for (const [i, peer] of first.entries()) {
            expect(peer.epochs.isAgreed).toBe(true)
            expect(peer.epochs.current).toMatchObject({ epoch: 1, boundary: 0, rank: i })
            peer.called = (seed >>> i) % 5
          }
          agree(peers, [{ epoch: 2, members: ids.map(member) }], seed + 1)
          const boundary = peers[0]!.epochs.current!.boundary
          for (const [i, peer] of peers.entries()) {
            expect(peer.epochs.isAgreed).toBe(true)
            expect(peer.epochs.current).toMatchObject({ epoch: 2, boundary, rank: i })
            // Ops of the old epoch stay there; the ones from the boundary on are everybody's.
            if (i < old && boundary > 0) expect(peer.epochs.spanOf(boundary - 1)?.epoch).toBe(1)
            expect(peer.epochs.spanOf(boundary)?.epoch).toBe(2)
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  it('gives all the same history of epochs when views overtake each other', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 7 }),
        fc.integer({ min: 2, max: 5 }),
        fc.integer(),
        (size, count, seed) => {
          const ids = Array.from({ length: size + count }, (_, i) => `p${i}`)
          const peers = ids.map(newPeer)
          // The first `size` stay; one more comes in with each view.
          const views = Array.from({ length: count }, (_, i) => ({
            epoch: i + 1,
            members: ids.slice(0, size + i).map(member),
          }))
          agree(peers.slice(0, size + count - 1), views, seed)
          const facts = (peer: Peer) => peer.spans.map(({ epoch, boundary }) => [epoch, boundary])
          const longest = peers.slice(0, size).map(facts)
          for (const [i, peer] of peers.slice(0, size).entries()) {
            expect(peer.epochs.isAgreed).toBe(true)
            expect(facts(peer), `p${i}`).toEqual(longest[0])
          }
          // A newcomer has the part of the history since it came in.
          for (const peer of peers.slice(size, size + count - 1)) {
            const own = facts(peer)
            expect(longest[0]!.slice(-own.length)).toEqual(own)
          }
        },
      ),
      { numRuns: 150 },
    )
  })

  it('holds numbers back only between telling its count and the agreement', () => {
    const a = createEpochs('a')
    a.begin({ epoch: 1, members: [member('a'), member('b')] })
    expect(a.isFrozen).toBe(false)
    a.ready()
    expect(a.settle(() => told(0))).toBeUndefined()
    expect(a.isFrozen).toBe(false)
    a.merge(1, [{ peerId: 'b', isFresh: true, agreed: 0 }])
    expect(a.settle(() => told(0))).toBeUndefined()
    expect(a.isFrozen).toBe(true)
    a.merge(1, [{ peerId: 'b', isFresh: true, agreed: 0, called: 0 }])
    expect(a.settle(() => told(0))).toMatchObject({ epoch: 1, boundary: 0, rank: 0 })
    expect(a.isFrozen).toBe(false)
  })

  it('starts anew when a newer view comes before the agreement, and ignores older ones', () => {
    const a = createEpochs('a')
    a.begin({ epoch: 3, members: [member('a'), member('b')] })
    a.ready()
    a.begin({ epoch: 4, members: [member('a')] })
    a.begin({ epoch: 2, members: [member('a'), member('c')] })
    a.merge(3, [{ peerId: 'b', isFresh: true, agreed: 0, called: 9 }])
    a.ready()
    expect(a.settle(() => told(0))).toMatchObject({ epoch: 4, members: [member('a')] })
  })
})
