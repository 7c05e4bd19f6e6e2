/** More processes with headless peers, when one would keep them waiting for each other. */
import { fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { exitCodes } from './exitCodes.ts'
import type { PeerRequest } from './peerRequest.ts'

export interface Crews {
  /** Resolves with their exit statuses when all have ended. */
  readonly codes: Promise<readonly number[]>
  /** Ends them politely. */
  stop(): void
}

/** How many peers each process has: as even as can be, the first has the most. */
export function sharesOf(peers: number, processes: number): number[] {
  return Array.from({ length: processes }, (_, i) => Math.ceil((peers - i) / processes))
}

/** Each process is this command again, in the same room; `onLine` gets what it prints, JSON. */
export function startCrews(
  shares: readonly number[],
  room: string,
  request: PeerRequest,
  onLine: (line: string) => void,
): Crews {
  const { url, size, timeoutSeconds, runs, name } = request
  const common = ['--url', url.origin, '--room', room, '--size', size, '--timeout', timeoutSeconds, '--json']
  const runsFlag = runs === Number.POSITIVE_INFINITY ? [] : ['--runs', runs]
  const nameFlag = name === undefined ? [] : ['--name', name]
  const children = shares.map((peers) => {
    const argv = ['peer', ...common, ...runsFlag, ...nameFlag, '--processes', 1, '--peers', peers].map(String)
    return fork(process.argv[1]!, argv, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  })
  // Not `close`: it does not come for a child whose channel was ended from here.
  const codes = children.map(async (child) => {
    const ended = new Promise<number>((resolve) => {
      child.once('error', () => resolve(exitCodes.notFormed))
      child.once('exit', (code) => resolve(code ?? exitCodes.lost))
    })
    const lines = createInterface({ input: child.stdout! }).on('line', onLine)
    const told = new Promise((resolve) => lines.once('close', resolve))
    const [code] = await Promise.all([ended, told])
    return code
  })
  return {
    codes: Promise.all(codes),
    stop() {
      // A child takes the end of this channel for the end of who started it: it also ends when this process dies.
      for (const child of children) if (child.connected) child.disconnect()
    },
  }
}
