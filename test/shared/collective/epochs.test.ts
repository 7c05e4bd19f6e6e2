import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import type { Standing } from '../../../shared/collective/control.ts'
import { createEpochs, type Epochs } from '../../../shared/collective/epochs.ts'
import type { View } from '../../../shared/membership/types.ts'

const told = (called: number) => ({ called, finished: [], suspended: [] })
const member = (peerId: string) => ({ peerId, name: peerId, kind: 'test' })

interface Peer {
  id: string
  epochs: Epochs
  called: number
}

/** Members that gossip in random order over a random connected network, calling ops whenever they may. */
function agree(peers: readonly Peer[], view: View, seed: number) {
  const prng = createPrng(seed)
  const mail: { to: Peer; epoch: number; standings: Standing[] }[] = []
  const last = new Map<string, string>()
  // A ring and random chords: not every pair has a link.
  const linked = (a: number, b: number) =>
    (a - b + peers.length) % peers.length === 1 || (b - a + peers.length) % peers.length === 1
  const advance = (peer: Peer) => {
    if (!peer.epochs.isFrozen && peer.epochs.current && prng.next() < 0.5) peer.called++
    const span = peer.epochs.settle(() => told(peer.called))
    if (span) peer.called = Math.max(peer.called, peer.epochs.isFirst ? span.boundary : 0)
    const known = peer.epochs.standings()
    const text = JSON.stringify(known)
    if (!known || last.get(peer.id) === text) return
    last.set(peer.id, text)
    for (const [index, other] of peers.entries())
      if (linked(peers.indexOf(peer), index)) mail.push({ to: other, ...structuredClone(known) })
  }
  const pending = peers.map((peer) => () => {
    peer.epochs.begin(view)
    advance(peer)
    peer.epochs.ready()
    advance(peer)
  })
  while (pending.length + mail.length > 0) {
    if (pending.length > 0 && prng.next() < 0.3) pending.splice(prng.below(pending.length), 1)[0]!()
    else if (mail.length > 0) {
      const [letter] = mail.splice(prng.below(mail.length), 1)
      letter!.to.epochs.merge(letter!.epoch, letter!.standings)
      advance(letter!.to)
    }
  }
}

describe('createEpochs', () => {
  it('gives all members the same boundary, at or after every op that anyone has called', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer(),
        (old, joining, seed) => {
          const ids = Array.from({ length: old + joining }, (_, i) => `p${i}`)
          const peers = ids.map((id) => ({ id, epochs: createEpochs(id), called: 0 }))
          const first = peers.slice(0, old)
          agree(first, { epoch: 1, members: ids.slice(0, old).map(member) }, seed)
          for (const [i, peer] of first.entries()) {
            expect(peer.epochs.isAgreed).toBe(true)
            expect(peer.epochs.current).toMatchObject({ epoch: 1, boundary: 0, rank: i })
            peer.called = (seed >>> i) % 5
          }
          agree(peers, { epoch: 2, members: ids.map(member) }, seed + 1)
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
      { numRuns: 200 },
    )
  })

  it('holds numbers back only between telling its count and the agreement', () => {
    const a = createEpochs('a')
    a.begin({ epoch: 1, members: [member('a'), member('b')] })
    expect(a.isFrozen).toBe(false)
    a.ready()
    expect(a.settle(() => told(0))).toBeUndefined()
    expect(a.isFrozen).toBe(false)
    a.merge(1, [{ peerId: 'b', isFresh: true }])
    expect(a.settle(() => told(0))).toBeUndefined()
    expect(a.isFrozen).toBe(true)
    a.merge(1, [{ peerId: 'b', isFresh: true, called: 0 }])
    expect(a.settle(() => told(0))).toMatchObject({ epoch: 1, boundary: 0, rank: 0 })
    expect(a.isFrozen).toBe(false)
  })

  it('starts anew when a newer view comes before the agreement, and ignores older ones', () => {
    const a = createEpochs('a')
    a.begin({ epoch: 3, members: [member('a'), member('b')] })
    a.ready()
    a.begin({ epoch: 4, members: [member('a')] })
    a.begin({ epoch: 2, members: [member('a'), member('c')] })
    expect(a.merge(3, [{ peerId: 'b', isFresh: true, called: 9 }])).toBe(false)
    a.ready()
    expect(a.settle(() => told(0))).toMatchObject({ epoch: 4, members: [member('a')] })
  })
})
