/**
 * `npm run faults -- --soak MINUTES --seed S`: up to eight peers in processes of their own and a server, with ops all the time, while peers come,
 * leave, are killed or stand still, and the server is killed and comes back. The first two processes are never ended: they show whether memory is
 * flat.
 */
import { createPrng } from '../../shared/base/prng.ts'
import { families } from '../faults/scenario.ts'
import { createLedger } from './ledger.ts'
import type { Holdings, OpSpec, Said } from './messages.ts'
import { createNodePeers } from './nodePeers.ts'
import type { Peer } from './peers.ts'
import { startServerProcess } from './serverProcess.ts'

const [most, least, immortal] = [8, 3, 2]
/** An op ends at its own time-out before. */
const hangMs = 60_000
const lookMs = 15_000
/** Until then the code is compiled and all buffers have their size. */
const warmUpMs = 60_000
/**
 * What a process may hold more at the end than after the warm-up: of the heap with results that are kept for others (2 MiB for each of them), and of
 * the memory of the process with all that is native.
 */
const growthBytes = { heap: 16 * 2 ** 20, resident: 64 * 2 ** 20 }

interface Member {
  readonly id: number
  readonly index: number
  readonly peer: Peer
  state: 'joining' | 'in' | 'out'
  isStopped: boolean
  heardAt: number
}

interface Sample extends Holdings {
  readonly at: number
}

export async function soak(minutes: number, seed: number): Promise<number> {
  const prng = createPrng(seed)
  const pick = <T>(list: readonly T[]) => list[prng.below(list.length)]!
  const counts = [1, 257, 5000, 100_000, 300_000]
  const ops = Array.from(
    { length: 200 },
    (): OpSpec => ({ ...pick(families), count: pick(counts), dtype: pick(['i32', 'f32']) }),
  )
  const server = await startServerProcess()
  const peers = createNodePeers()
  const begin = Date.now()
  const room = `soak-${process.pid}`
  const ledger = createLedger()
  const members: Member[] = []
  const samples = new Map<Peer, Sample[]>()
  const done = { joins: 0, leaves: 0, kills: 0, stops: 0, restarts: 0 }
  const violations: string[] = []
  let serverBackAt = begin
  let nextId = 0

  const blame = (what: string) => {
    violations.push(what)
    console.log(`${((Date.now() - begin) / 1000).toFixed(1)} s: ${what}`)
  }
  const alive = () => members.filter(({ state }) => state !== 'out')
  const settled = () => members.filter(({ state, isStopped }) => state === 'in' && !isStopped)
  /** Of the twenty bits that a float32 sum can tell apart, one that no living member has, and nobody has had lately. */
  const freeIndex = () => {
    const taken = new Set(alive().map(({ index }) => index))
    let index = nextId % 20
    while (taken.has(index)) index = (index + 1) % 20
    return index
  }

  const enter = async (peer: Peer) => {
    const member: Member = {
      id: nextId,
      index: freeIndex(),
      peer,
      state: 'joining',
      isStopped: false,
      heardAt: Date.now(),
    }
    nextId++
    members.push(member)
    done.joins++
    const off = [peer.heard.on('said', (said) => hear(said)), peer.heard.on('gone', () => leave())]
    const leave = () => {
      member.state = 'out'
      for (const forget of off) forget()
    }
    const hear = (said: Said) => {
      if (said.session !== undefined && said.session !== member.id) return
      member.heardAt = Date.now()
      if (said.type === 'joined') {
        member.state = 'in'
        peer.post({ type: 'work', ops, pace: 'epochs', faults: [] })
      } else if (said.type === 'outcome') {
        const { epoch, op, result, at } = said.outcome
        ledger.note(member.id, `${epoch}.${op}`, result, at)
      } else if (said.type === 'holds') samples.get(peer)?.push({ ...said.holdings, at: Date.now() })
      else if (said.type === 'left') {
        leave()
        peers.give(peer)
      } else if (said.type === 'failed') {
        // Who comes while the server is away may be told so.
        if (Date.now() > serverBackAt + 12_000) blame(`member ${member.id}: ${said.message}`)
        leave()
        peers.give(peer)
      }
    }
    peer.post({
      type: 'join',
      url: server.url,
      room,
      size: 1,
      session: member.id,
      index: member.index,
      name: `${member.index}-${member.id}`,
    })
  }

  const acts: Readonly<Record<string, () => void | Promise<void>>> = {
    async join() {
      if (alive().length < most) await enter(await peers.take())
    },
    leave() {
      const staying = settled()
      if (staying.length <= least) return
      done.leaves++
      const { peer, id } = pick(staying)
      peer.post({ type: 'leave', session: id })
    },
    kill() {
      const staying = settled()
      const mortal = staying.filter(({ peer }) => !samples.has(peer))
      if (staying.length <= least || mortal.length === 0) return
      done.kills++
      void pick(mortal).peer.end()
    },
    stop() {
      const staying = settled()
      if (staying.length <= least) return
      done.stops++
      const member = pick(staying)
      member.isStopped = true
      member.peer.pause()
      setTimeout(
        () => {
          member.peer.resume()
          // Whether it is still in shows only when it has heard of the others.
          setTimeout(() => {
            member.isStopped = false
            member.heardAt = Date.now()
          }, 10_000)
        },
        300 + prng.next() * 7000,
      )
    },
    restart() {
      if (Date.now() < serverBackAt + 15_000) return
      done.restarts++
      serverBackAt = Number.POSITIVE_INFINITY
      void server.restart(prng.next() * 4).then(() => {
        serverBackAt = Date.now()
      })
    },
  }
  const order = ['join', 'join', 'join', 'leave', 'kill', 'kill', 'stop', 'restart']

  const end = begin + minutes * 60_000
  let lookAt = begin + warmUpMs / 2
  try {
    for (let n = 0; n < most; n++) {
      const peer = await peers.take()
      if (n < immortal) samples.set(peer, [])
      await enter(peer)
    }
    while (Date.now() < end) {
      await pause(500 + prng.next() * 2500)
      await acts[pick(order)]!()
      if (Date.now() >= lookAt) {
        lookAt = Date.now() + lookMs
        for (const peer of samples.keys()) peer.post({ type: 'look' })
      }
      watch()
    }
    await server.isUp()
    // All that is under way comes to its end.
    await pause(15_000)
    watch(Date.now() - 1000)
    for (const peer of samples.keys()) peer.post({ type: 'look' })
    await pause(2000)
  } finally {
    await peers.close()
    await server.close()
  }

  function watch(before = Date.now() - hangMs): void {
    const isIn = (id: number) => settled().some((member) => member.id === id)
    for (const violation of ledger.settle(before, isIn)) blame(violation)
    for (const member of settled())
      if (Date.now() - member.heardAt > hangMs) {
        blame(`a hang: nothing of member ${member.id} for ${hangMs / 1000} s`)
        member.heardAt = Date.now()
      }
    for (const member of [...members]) if (member.state === 'out') members.splice(members.indexOf(member), 1)
  }

  const memory = [...samples.values()].map((list) =>
    growthOf(list.filter(({ at }) => at >= begin + warmUpMs)),
  )
  for (const { heapBytes, residentBytes } of memory) {
    if (heapBytes > growthBytes.heap) blame(`the heap of a peer has grown by ${mib(heapBytes)} MiB`)
    if (residentBytes > growthBytes.resident)
      blame(`the memory of a peer has grown by ${mib(residentBytes)} MiB`)
  }
  for (const list of samples.values()) {
    const connections = Math.max(...list.map((sample) => sample.connections))
    if (connections > 3 * most) blame(`a peer had ${connections} connections that were not closed`)
    console.log(
      `kept by a peer, MiB of heap / of the process, handles, connections: ${list
        .map((s) => `${mib(s.heapBytes)}/${mib(s.residentBytes)}/${s.handles}/${s.connections}`)
        .join(' ')}`,
    )
  }
  console.log(
    JSON.stringify({
      minutes,
      seed,
      ops: ledger.ops,
      ...done,
      violations: violations.length,
      heapGrowthMiB: memory.map(({ heapBytes }) => Number(mib(heapBytes))),
      residentGrowthMiB: memory.map(({ residentBytes }) => Number(mib(residentBytes))),
    }),
  )
  return violations.length
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1)

/** From the first third of the samples to the last: single ones go up and down with what is just under way. */
function growthOf(samples: readonly Sample[]): { heapBytes: number; residentBytes: number } {
  const third = Math.max(1, Math.floor(samples.length / 3))
  const median = (part: readonly Sample[], of: 'heapBytes' | 'residentBytes') =>
    part.map((sample) => sample[of]).sort((a, b) => a - b)[part.length >> 1] ?? 0
  const growth = (of: 'heapBytes' | 'residentBytes') =>
    median(samples.slice(-third), of) - median(samples.slice(0, third), of)
  return { heapBytes: growth('heapBytes'), residentBytes: growth('residentBytes') }
}
