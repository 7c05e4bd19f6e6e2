/**
 * `npm run bench -- lab`: a group in the lab, each peer on a host of its own. Candidates take turns in every round, so that all see the same
 * network and the same machine.
 */
import { appendFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { type Lab, startLab } from '../../lab/hosts.ts'
import { describeNetwork, type LabNetwork, networkOptions } from '../../lab/network.ts'
import type { Candidate, Command } from './member.ts'
import { startMpi } from './mpi.ts'
import { bundleTabPeer, type Peer, startNodePeer, startTabPeer } from './peers.ts'
import { printCell, printLinks } from './print.ts'
import { joinRanks, type Line, type LinkSample, mpiSample, type Sample, summarize } from './samples.ts'
import { type Selection, selectCandidates } from './select.ts'

export interface LabOptions extends Selection {
  readonly network: LabNetwork
  readonly isBrowser: boolean
  /** OpenMPI's MPI_Allreduce takes part. */
  readonly isWithMpi: boolean
  /** Of peers, ascending. */
  readonly sizes: readonly number[]
  readonly bytes: readonly number[]
  readonly rounds: number
  /** Lines of JSON are appended here. */
  readonly out?: string | undefined
}

/** Vectors up to here are called several times a round: they take no time, and vary most. */
const shortBytes = 64 * 1024
const shortRepeats = 3
/** The first round, which does not count, has this number. */
const warmUps = -1

interface Cell {
  readonly bytes: number
  readonly candidates: readonly Candidate[]
}

export async function measureLab(options: LabOptions): Promise<Sample[]> {
  const { network, sizes, isBrowser } = options
  const hosts = Math.max(...sizes)
  console.log(`Lab of ${hosts} hosts: ${describeNetwork(network)}`)
  const lab = startLab(hosts, networkOptions(network))
  try {
    const url = await lab.startServer()
    const peers = await startPeers(lab, hosts, url, isBrowser)
    const samples: Sample[] = []
    for (const size of sizes) samples.push(...(await measureGroup(lab, peers.slice(0, size), url, options)))
    return samples
  } finally {
    await lab.close()
  }
}

async function startPeers(lab: Lab, count: number, url: string, isBrowser: boolean): Promise<Peer[]> {
  const hosts = Array.from({ length: count }, (_, at) => at + 1)
  if (!isBrowser) return Promise.all(hosts.map((host) => startNodePeer(lab, host)))
  const script = await bundleTabPeer()
  return Promise.all(hosts.map((host) => startTabPeer(lab, host, url, script)))
}

async function measureGroup(
  lab: Lab,
  peers: readonly Peer[],
  url: string,
  options: LabOptions,
): Promise<Sample[]> {
  const { network, isBrowser, isWithMpi, bytes, rounds, consistency, out } = options
  const size = peers.length
  const about = { network, peers: isBrowser ? ('tabs' as const) : ('node' as const), size }
  const write = (lines: readonly Line[]) => {
    if (out) appendFileSync(out, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }
  const all = <Name extends Command['do']>(command: Extract<Command, { do: Name }>) =>
    Promise.all(peers.map((peer) => peer<Name>(command)))

  const seats = await all<'join'>({ do: 'join', url, room: `lab-${size}`, size })
  const leader = peers[seats.findIndex(({ rank }) => rank === 0)]!
  const links: LinkSample = {
    kind: 'links',
    ...about,
    date: new Date().toISOString(),
    load: loadavg()[0]!,
    ranks: await all<'links'>({ do: 'links' }),
  }
  write([links])
  printLinks(links)

  const cells: Cell[] = []
  for (const each of bytes) {
    const predictions = await leader<'predict'>({ do: 'predict', bytes: each, consistency })
    cells.push({ bytes: each, candidates: selectCandidates(predictions, options) })
  }
  const mpi = isWithMpi ? await startMpi(lab, size) : undefined
  const call = async (each: number, candidate: Candidate | undefined, round: number) => {
    const before = lab.dropped()
    const now = { ...about, round, load: loadavg()[0]! }
    const make = candidate
      ? joinRanks(await all<'call'>({ do: 'call', bytes: each, candidate }), now)
      : mpiSample(await mpi!.allreduce(each), now)
    return { ...make, dropped: lab.dropped() - before }
  }
  const measured: Sample[] = []
  for (let round = warmUps; round < rounds; round++)
    for (const { bytes: each, candidates } of cells) {
      const isShort = each <= shortBytes
      // Short vectors warm up: code is compiled, windows open. In a long one there is time for it.
      if (round < 0 && !isShort) continue
      const callers = mpi ? [...candidates, undefined] : candidates
      const samples: Sample[] = []
      for (let repeat = 0; repeat < (isShort && round >= 0 ? shortRepeats : 1); repeat++)
        for (const candidate of callers) samples.push(await call(each, candidate, round))
      if (round < 0) continue
      write(samples)
      measured.push(...samples)
    }
  await mpi?.close()
  for (const cell of summarize(measured)) printCell(cell)
  await all<'leave'>({ do: 'leave' })
  return measured
}
