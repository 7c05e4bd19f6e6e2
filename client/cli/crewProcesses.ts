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
  const codes = children.map(
    (child) =>
      new Promise<number>((resolve) => {
        if (child.stdout) createInterface({ input: child.stdout }).on('line', onLine)
        child.once('error', () => resolve(exitCodes.notFormed))
        child.once('close', (code) => resolve(code ?? exitCodes.lost))
      }),
  )
  return {
    codes: Promise.all(codes),
    stop() {
      // A child takes the end of this channel for the end of who started it: it also ends when this process dies.
      for (const child of children) if (child.connected) child.disconnect()
    },
  }
}
