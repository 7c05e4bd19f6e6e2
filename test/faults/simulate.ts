/**
 * Runs a scenario in virtual time over the memory transport, with the real room as the server, and checks the invariants of
 * docs/data-plane.md: no hang; all survivors end each op alike, with the same bits and the same contributors; every contribution is in the
 * result at most once, those of the survivors exactly once; no input is touched; an epoch has the same members for all; and when all is over and
 * everybody has heard of it, nobody keeps anything for anybody.
 */
import { VirtualClock } from '../../shared/base/clock.ts'
import { PapilioError } from '../../shared/base/errors.ts'
import { createPrng } from '../../shared/base/prng.ts'
import { createGroup, type LocalGroup } from '../../shared/collective/group.ts'
import { createMemoryNetwork } from '../../shared/transport/memory.ts'
import type { Transport } from '../../shared/transport/types.ts'
import { inVirtualTime } from '../support/virtualTime.ts'
import { type Connection, createArbiter, type Limits } from './arbiter.ts'
import { createPeerClock, type PeerClock } from './peerClock.ts'
import type { Family, Fault, Phase, Scenario } from './scenario.ts'

const latency = 0.002
const timeoutMs = 60_000
/** The limit of silence is passed, and so is all that follows from it. */
const quietSeconds = 8
/** Who left has been heard, and what was kept for others is given up. */
const shortSeconds = 2
/** Shorter than the server's own, so that more happens in less time. */
const shortLimits: Limits = { graceSeconds: 2, accusedSeconds: 1.5 }
/** Those of the server. */
export const defaultLimits: Limits = { graceSeconds: 10, accusedSeconds: 3 }
/** Who was put out asks for its place again. */
const againSeconds = 0.3

interface Peer {
  readonly id: string
  /** What its contribution adds: one bit of its own, so that a sum tells whose data is in it, and how often. */
  readonly bit: number
  readonly group: LocalGroup
  readonly transport: Transport
  readonly clock: PeerClock
  readonly connection: Connection
  readonly outcomes: Outcome[]
  endedAt: number
  /** It came in when the ops had begun, and calls on for as long as the others do. */
  readonly isLate: boolean
  /** Not expected to finish: closed, crashed, or put out by the others while it was frozen or cut off. */
  isOut: boolean
}

type Outcome = { readonly sum: number; readonly contributors: string } | { readonly error: string }

export interface Verdict {
  readonly violations: readonly string[]
  /** Virtual seconds from the first fault to the end of the ops. */
  readonly seconds: number
  /** Delivered while the ops ran. */
  readonly messages: number
  /** Who of those who were there first has left or was put out. */
  readonly out: readonly string[]
}

const calm = new Map<string, Promise<Verdict>>()

/** How many messages a whole op has, without a fault. */
export async function messagesOf(family: Family, size: number): Promise<number> {
  const scenario: Scenario = {
    seed: 1,
    size,
    count: 257,
    ops: [family],
    measures: family.algorithm === 'auto',
    pauseSeconds: 0,
    faults: [],
  }
  const key = JSON.stringify(scenario)
  const known = calm.get(key) ?? simulate(scenario)
  calm.set(key, known)
  return (await known).messages
}

export async function simulate(
  scenario: Scenario,
  options: { trace?: (line: string) => void; limits?: Limits } = {},
): Promise<Verdict> {
  const clock = new VirtualClock()
  const prng = createPrng(scenario.seed)
  const violations: string[] = []
  const peers: Peer[] = []
  const delivered: Record<Phase, number> = { meeting: 0, running: 0, recovering: 0 }
  const due = new Set(scenario.faults)
  let isRunning = false
  let isOver = false
  let firstFaultAt: number | undefined
  /** The members of each epoch, as those who agreed on it know them. */
  const epochs: { epoch: number; members: string; peer: Peer }[] = []
  const trace = (what: string) => options.trace?.(`${clock.now().toFixed(3)} ${what}`)
  const network = createMemoryNetwork({
    clock,
    latency,
    jitter: 0.003,
    seed: scenario.seed,
    // A cut is noticed soon; a crash never, but for the silence.
    noticeSeconds: 0.5,
    onDeliver() {
      if (isOver) return
      delivered.meeting++
      if (isRunning) delivered.running++
      if (firstFaultAt !== undefined) delivered.recovering++
      for (const fault of due)
        if (delivered[fault.phase] === fault.afterMessages) {
          due.delete(fault)
          // After the delivery that set it off.
          clock.after(0, () => strike(fault))
        }
    },
  })
  const arbiter = createArbiter(clock, latency, prng.next, options.limits ?? shortLimits)

  const join = (id: string, isLate = false): Peer => {
    const peerClock = createPeerClock(clock)
    const connection = arbiter.join(id)
    const transport = network.transport(id)
    transport.on('open', (link) => connection.linked(link.peerId))
    const group = createGroup({
      transport,
      membership: connection.membership,
      clock: peerClock,
      measure: scenario.measures,
    })
    const peer: Peer = {
      id,
      bit: 2 ** peers.length,
      group,
      transport,
      clock: peerClock,
      connection,
      outcomes: [],
      endedAt: 0,
      isLate,
      isOut: false,
    }
    group.on('view', ({ epoch, members, blocked }) =>
      trace(
        `${id} view ${epoch}: ${members.map((member) => member.peerId).join(' ')} ${JSON.stringify(blocked ?? '')}`,
      ),
    )
    group.on('link', ({ peerId, state, error }) =>
      trace(`${id} link to ${peerId} ${state} ${error?.message ?? ''}`),
    )
    group.on('waiting', ({ op, step, peers: others }) =>
      trace(`${id} op ${op} waits in ${step} for ${others.map((other) => other.name)}`),
    )
    group.on('state', (state) => {
      trace(`${id} ${state}`)
      if (state === 'left' && !peer.isOut) {
        peer.isOut = true
        clock.after(againSeconds, () => enterLate(`${id}+`))
      }
      if (state !== 'ready') return
      const members = group.members.map((member) => member.peerId).join(' ')
      epochs.push({ epoch: group.epoch, members, peer })
    })
    peers.push(peer)
    return peer
  }
  const enterLate = (id: string) => {
    // A bit for each: a sum of more would not be an int32.
    if (!isOver && peers.length < 30) void work(join(id, true))
  }

  const strike = (fault: Fault) => {
    firstFaultAt ??= clock.now()
    const peer = peers[fault.rank]!
    const other = peers[fault.other]!
    if (fault.kind === 'outage') {
      trace(`the server is away for ${fault.seconds} s`)
      arbiter.restart(fault.seconds)
      return
    }
    if (peer.isOut) return
    trace(`${fault.kind} ${peer.id} ${other.id} ${fault.seconds}`)
    switch (fault.kind) {
      case 'close':
      case 'restart':
        end(peer, 0)
        if (fault.kind === 'restart') clock.after(fault.seconds / 4, () => enterLate(`${peer.id}-again`))
        break
      case 'crash':
        peer.isOut = true
        peer.clock.stop()
        // The kernel may or may not end its connection to the server; nobody ends its links.
        peer.connection.close(fault.seconds < 4 ? Number.POSITIVE_INFINITY : 0)
        network.freeze(peer.id)
        break
      case 'freeze':
      case 'sleep':
        for (const part of [peer.clock, peer.connection]) part.freeze()
        network.freeze(peer.id)
        if (fault.kind === 'sleep') peer.connection.offline(fault.seconds)
        clock.after(fault.seconds, () => {
          trace(`${peer.id} goes on`)
          network.thaw(peer.id)
          for (const part of [peer.clock, peer.connection]) part.thaw()
        })
        break
      case 'offline':
        peer.connection.offline(fault.seconds)
        break
      case 'cut':
        network.cut(peer.id, other.id)
        clock.after(fault.seconds, () => network.mend(peer.id, other.id))
        break
      case 'slow':
        network.shape(peer.id, other.id, { latency: latency * 100 })
        break
      case 'leave':
        peer.isOut = true
        void peer.group.leave()
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

  const work = async (peer: Peer) => {
    for (let index = 0; (index < scenario.ops.length || peer.isLate) && !isOver; index++) {
      const { algorithm, settings } = scenario.ops[index % scenario.ops.length]!
      const pause = (peer.isLate ? 0.02 : 0) + prng.next() * scenario.pauseSeconds
      if (pause > 0) await new Promise<void>((resolve) => peer.clock.after(pause, resolve))
      const data = new Int32Array(scenario.count).fill(peer.bit)
      try {
        const { data: result, report } = await peer.group.allreduce(data, { algorithm, settings, timeoutMs })
        const sum = result[0] ?? 0
        if (result.some((value) => value !== sum)) violations.push(`${peer.id}: elements differ`)
        const contributors = report.contributors.map((member) => member.peerId)
        const expected = peers.reduce((all, { id, bit }) => all + (contributors.includes(id) ? bit : 0), 0)
        if (scenario.count > 0 && sum !== expected)
          violations.push(`${peer.id}: sum ${sum} of ${contributors.join(' ')}, expected ${expected}`)
        peer.outcomes.push({ sum, contributors: contributors.join(' ') })
        trace(`${peer.id} has op ${report.op} (${report.algorithm}): ${contributors.join(' ')}`)
      } catch (error) {
        const text = error instanceof PapilioError ? `${error.code}: ${error.message}` : String(error)
        trace(`${peer.id} failed: ${text}`)
        peer.outcomes.push({ error: text })
        if (peer.isOut || isOver) return
      } finally {
        if (data.some((value) => value !== peer.bit)) violations.push(`${peer.id}: its input was touched`)
      }
    }
    peer.endedAt = clock.now()
  }

  const wait = (seconds: number) => new Promise<void>((resolve) => clock.after(seconds, resolve))
  /** Resolves once nobody waits for the peer any more. */
  const outOf = async (peer: Peer) => {
    while (!peer.isOut) await wait(0.5)
  }
  const present = () => peers.filter((peer) => !peer.isOut)
  const together = async (seconds: number) => {
    const areTogether = () =>
      present().every(
        ({ group }) =>
          group.state === 'ready' && [group.size, group.roster.length].every((n) => n === present().length),
      )
    for (let waited = 0; waited < seconds && !areTogether(); waited += 0.1) await wait(0.1)
    if (areTogether()) return
    const states = present().map(
      ({ id, group }) => `${id} ${group.state} ${group.size}/${group.roster.length}`,
    )
    violations.push(`not together: ${states.join(', ')}`)
  }

  const check = (first: readonly Peer[]) => {
    // An epoch that only peers were told that are out may have been given out again.
    const lists = new Map<number, string>()
    for (const { epoch, members, peer } of epochs) {
      if (peer.isOut) continue
      const told = lists.get(epoch) ?? members
      lists.set(epoch, told)
      if (told !== members) violations.push(`epoch ${epoch} is ${members} for ${peer.id}, ${told} for others`)
    }
    const survivors = first.filter((peer) => !peer.isOut)
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
  }

  /** Who came late leaves in the middle of an op that nobody else calls any more; the others meet once more, and then all is quiet. */
  const settle = async () => {
    isOver = true
    await wait(quietSeconds)
    for (const peer of present())
      if (peer.isLate) {
        peer.isOut = true
        void peer.group.leave()
      }
    await wait(shortSeconds)
    await together(quietSeconds)
    // One for each op that somebody who came late may have begun, and one more.
    for (let again = scenario.size; again <= peers.length; again++)
      await Promise.all(
        present().map(({ id, group }) =>
          group.barrier({ timeoutMs }).catch((error: Error) => {
            violations.push(`${id}: the last barrier: ${error.message}`)
          }),
        ),
      )
    await wait(shortSeconds)
    for (const { id, group } of present()) {
      const { relays, ...kept } = group.holdings()
      if (relays >= peers.length || Object.values(kept).some((count) => count > 0))
        violations.push(`${id} still keeps ${JSON.stringify(group.holdings())}`)
    }
  }

  const play = async () => {
    const first = Array.from({ length: scenario.size }, (_, rank) => join(`p${rank}`))
    await Promise.all(first.map((peer) => Promise.race([ready(peer), outOf(peer)])))
    isRunning = true
    // A peer that is out may never settle: nobody waits for it.
    await Promise.all(first.map((peer) => Promise.race([work(peer), outOf(peer)])))
    const messages = delivered.running
    await settle()
    const ends = first.filter((peer) => !peer.isOut).map((peer) => peer.endedAt)
    const seconds = Math.max(0, ...ends) - (firstFaultAt ?? 0)
    // Only now is it known who was put out meanwhile and has not heard of it yet.
    check(first)
    return { seconds, messages }
  }
  const ready = async ({ group }: Peer) => {
    while (group.state !== 'ready' || group.size < present().length) await wait(0.1)
  }

  let played = { seconds: 0, messages: 0 }
  try {
    played = await inVirtualTime(clock, play())
  } catch (error) {
    violations.push(`${error}`)
  }
  const out = peers.slice(0, scenario.size).flatMap((peer) => (peer.isOut ? [peer.id] : []))
  for (const peer of peers) if (!peer.isOut) end(peer, 0)
  return { violations: [...new Set(violations)], out, ...played }
}
