/**
 * Runs a scenario in virtual time over the memory transport, with the real room as the server, and checks the invariants of
 * docs/data-plane.md: no hang; all survivors end each op alike, with the same bits and the same contributors; every contribution is in the
 * result at most once, those of the survivors exactly once; no input is touched.
 */
import { VirtualClock } from '../../shared/base/clock.ts'
import { PapilioError } from '../../shared/base/errors.ts'
import { createGroup } from '../../shared/collective/group.ts'
import type { Group } from '../../shared/collective/types.ts'
import { createMemoryNetwork } from '../../shared/transport/memory.ts'
import type { Transport } from '../../shared/transport/types.ts'
import { inVirtualTime } from '../support/virtualTime.ts'
import { createArbiter } from './arbiter.ts'
import { createPeerClock, type PeerClock } from './peerClock.ts'
import type { Fault, Scenario } from './scenario.ts'

const latency = 0.002
const timeoutMs = 60_000

interface Peer {
  readonly id: string
  /** What its contribution adds: one bit of its own, so that a sum tells whose data is in it, and how often. */
  readonly bit: number
  readonly group: Group
  readonly transport: Transport
  readonly clock: PeerClock
  readonly connection: ReturnType<ReturnType<typeof createArbiter>['join']>
  readonly outcomes: Outcome[]
  /** It came in when the ops had begun. */
  readonly isLate: boolean
  /** Not expected to finish: closed, crashed, or put out by the others while it was frozen or cut off. */
  isOut: boolean
}

type Outcome = { readonly sum: number; readonly contributors: string } | { readonly error: string }

export interface Verdict {
  readonly violations: readonly string[]
  /** Virtual seconds from the first fault to the end of the ops. */
  readonly seconds: number
}

export async function simulate(
  scenario: Scenario,
  options: { trace?: (line: string) => void } = {},
): Promise<Verdict> {
  const clock = new VirtualClock()
  const violations: string[] = []
  const peers: Peer[] = []
  let delivered = 0
  let isRunning = false
  let firstFaultAt: number | undefined
  const network = createMemoryNetwork({
    clock,
    latency,
    jitter: 0.003,
    seed: scenario.seed,
    // A cut is noticed soon; a crash never, but for the silence.
    noticeSeconds: 0.5,
    onDeliver() {
      if (!isRunning) return
      delivered++
      for (const fault of scenario.faults)
        if (fault.afterMessages === delivered) {
          firstFaultAt ??= clock.now()
          // After the delivery that set it off.
          clock.after(0, () => strike(fault))
        }
    },
  })
  const arbiter = createArbiter(clock, latency)

  const join = (id: string, isLate = false): Peer => {
    const peerClock = createPeerClock(clock)
    const connection = arbiter.join(id, peerClock)
    const transport = network.transport(id)
    transport.on('open', (link) => connection.linked(link.peerId))
    const group = createGroup({ transport, membership: connection.membership, clock: peerClock })
    const peer: Peer = {
      id,
      bit: 2 ** peers.length,
      group,
      transport,
      clock: peerClock,
      connection,
      outcomes: [],
      isLate,
      isOut: false,
    }
    const trace = (what: string) => options.trace?.(`${clock.now().toFixed(3)} ${id} ${what}`)
    group.on('view', ({ epoch, members, blocked }) =>
      trace(
        `view ${epoch}: ${members.map((member) => member.peerId).join(' ')} ${JSON.stringify(blocked ?? '')}`,
      ),
    )
    group.on('link', ({ peerId, state, error }) =>
      trace(`link to ${peerId} ${state} ${error?.message ?? ''}`),
    )
    group.on('waiting', ({ op, step, peers }) =>
      trace(`op ${op} waits in ${step} for ${peers.map((peer) => peer.name)}`),
    )
    group.on('state', (state) => {
      trace(state)
      if (state === 'left') peer.isOut = true
    })
    peers.push(peer)
    return peer
  }

  const strike = (fault: Fault) => {
    const peer = peers[fault.rank]!
    const other = peers[fault.other]!
    if (peer.isOut) return
    options.trace?.(`${clock.now().toFixed(3)} ${fault.kind} ${peer.id} ${other.id}`)
    switch (fault.kind) {
      case 'close':
      case 'restart':
        end(peer, 0)
        if (fault.kind === 'restart')
          clock.after(fault.seconds / 4, () => void work(join(`${peer.id}-again`, true)))
        break
      case 'crash':
        peer.isOut = true
        peer.clock.stop()
        peer.connection.close(Number.POSITIVE_INFINITY)
        network.freeze(peer.id)
        break
      case 'freeze':
        for (const part of [peer.clock, peer.connection]) part.freeze()
        network.freeze(peer.id)
        clock.after(fault.seconds, () => {
          network.thaw(peer.id)
          for (const part of [peer.clock, peer.connection]) part.thaw()
        })
        break
      case 'cut':
        network.cut(peer.id, other.id)
        clock.after(fault.seconds, () => network.mend(peer.id, other.id))
        break
      case 'slow':
        network.shape(peer.id, other.id, { latency: latency * 100 })
        break
    }
  }
  /** As a closed tab ends: its links close, and the server sees its connection break. */
  const end = (peer: Peer, seconds: number) => {
    peer.isOut = true
    peer.clock.stop()
    peer.connection.close(seconds)
    peer.transport.close()
  }

  /** A peer that came back works on for as long as the others do. */
  const work = async (peer: Peer) => {
    for (let index = 0; index < scenario.ops.length || peer.isLate; index++) {
      const { algorithm, settings } = scenario.ops[index % scenario.ops.length]!
      const data = new Int32Array(scenario.count).fill(peer.bit)
      try {
        const { data: result, report } = await peer.group.allreduce(data, { algorithm, settings, timeoutMs })
        if (data.some((value) => value !== peer.bit)) violations.push(`${peer.id}: its input was touched`)
        const sum = result[0] ?? 0
        if (result.some((value) => value !== sum)) violations.push(`${peer.id}: elements differ`)
        const contributors = report.contributors.map((member) => member.peerId)
        const expected = peers.reduce((all, { id, bit }) => all + (contributors.includes(id) ? bit : 0), 0)
        if (scenario.count > 0 && sum !== expected)
          violations.push(`${peer.id}: sum ${sum} of ${contributors.join(' ')}, expected ${expected}`)
        peer.outcomes.push({ sum, contributors: contributors.join(' ') })
      } catch (error) {
        peer.outcomes.push({
          error: error instanceof PapilioError ? `${error.code}: ${error.message}` : String(error),
        })
      }
    }
  }

  const play = async () => {
    const first = Array.from({ length: scenario.size }, (_, rank) => join(`p${rank}`))
    await together(first)
    isRunning = true
    await Promise.all(
      first.map(async (peer) => {
        // A peer that is out may never settle: nobody waits for it.
        await Promise.race([work(peer), outOf(peer)])
      }),
    )
  }
  /** Resolves once the peer is out. */
  const outOf = async (peer: Peer) => {
    while (!peer.isOut) await new Promise<void>((resolve) => clock.after(0.5, resolve))
  }
  const together = async (group: readonly Peer[]) => {
    while (!group.every((peer) => peer.group.state === 'ready' && peer.group.size === group.length))
      await new Promise<void>((resolve) => clock.after(0.1, resolve))
  }

  try {
    await inVirtualTime(clock, play())
  } catch (error) {
    violations.push(`${error}`)
  }
  const survivors = peers.slice(0, scenario.size).filter((peer) => !peer.isOut)
  for (let op = 0; op < scenario.ops.length; op++) {
    const outcomes = survivors.map((peer) => peer.outcomes[op])
    const distinct = new Set(outcomes.map((outcome) => JSON.stringify(outcome)))
    if (distinct.size > 1) violations.push(`op ${op}: the survivors differ: ${[...distinct].join(' | ')}`)
    for (const outcome of outcomes) {
      if (!outcome) violations.push(`op ${op} did not end on a survivor`)
      else if ('error' in outcome) violations.push(`op ${op} failed: ${outcome.error}`)
      else {
        const missing = survivors.filter((peer) => !outcome.contributors.split(' ').includes(peer.id))
        if (missing.length > 0)
          violations.push(`op ${op}: without ${missing.map((peer) => peer.id).join(' ')}`)
      }
    }
  }
  for (const peer of peers) if (!peer.isOut) end(peer, 0)
  return { violations: [...new Set(violations)], seconds: clock.now() - (firstFaultAt ?? clock.now()) }
}
