/** `papilio peer`: peers without a page in a room, for machines that have no browser. */
import { setMaxListeners } from 'node:events'
import { realClock } from '../../shared/base/clock.ts'
import { ArgumentError } from '../../shared/base/errors.ts'
import { createPrng } from '../../shared/base/prng.ts'
import { join } from '../node.ts'
import { attend } from './crew.ts'
import { type Crews, sharesOf, startCrews } from './crewProcesses.ts'
import { exitCodes } from './exitCodes.ts'
import type { Output } from './output.ts'
import type { PeerEvent } from './peerEvents.ts'
import { type PeerRequest, peerHelp, readPeerRequest } from './peerRequest.ts'
import { createNarrator } from './peerWords.ts'

/** Long loops let messages in so often, seconds. */
const breathSeconds = 0.01

/** Resolves with the exit status (exitCodes.ts) when the peers have left. */
export async function peer(argv: readonly string[], out: Output): Promise<number> {
  let request: PeerRequest | undefined
  try {
    request = readPeerRequest(argv)
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error
    out.error(`${error.message}.\nSee papilio peer --help.`)
    return exitCodes.usage
  }
  if (request) return run(request, out)
  out.line(peerHelp())
  return exitCodes.fine
}

async function run(request: PeerRequest, out: Output): Promise<number> {
  const { url, name, create, peers, processes, json, timeoutSeconds } = request
  const { signal, forget } = untilStopped()
  const narrate = createNarrator(out)
  const tell = (event: PeerEvent, isFirst: boolean) => {
    if (json) out.line(JSON.stringify({ at: new Date().toISOString(), ...event }))
    else narrate(event, isFirst)
  }
  const [own = 1, ...others] = sharesOf(peers, processes)
  let crews: Crews | undefined
  const stopCrews = () => crews?.stop()
  signal.addEventListener('abort', stopCrews)
  const code = await attend({
    ...request,
    peers: own,
    signal,
    clock: realClock,
    peer: {
      prng: createPrng(randomSeed()),
      agent: `Node ${process.versions.node}`,
      breathe: createBreathe(),
    },
    join: (room) =>
      join({
        url,
        until: 'seat',
        signal,
        timeoutMs: timeoutSeconds * 1000,
        create: create && room === request.room,
        ...(room !== undefined && { room }),
        ...(name !== undefined && { name }),
      }),
    onEvent: tell,
    onRoom(room) {
      if (others.length === 0 || signal.aborted) return
      crews = startCrews(others, room, request, (line) => {
        if (json) out.line(line)
        else narrate(JSON.parse(line) as PeerEvent, false)
      })
    },
    onProblem: (message) => out.error(message),
  })
  if (code !== exitCodes.fine) stopCrews()
  const codes = [code, ...((await crews?.codes) ?? [])]
  forget()
  return codes.includes(exitCodes.wrong)
    ? exitCodes.wrong
    : (codes.find((each) => each !== exitCodes.fine) ?? exitCodes.fine)
}

/** Aborted when this process is to end: politely at first, at once when it is told again. Also when the process that forked it is gone. */
function untilStopped(): { signal: AbortSignal; forget(): void } {
  const controller = new AbortController()
  // Each join listens to it.
  setMaxListeners(0, controller.signal)
  const stop = () => controller.abort()
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted)
    stop()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  process.once('disconnect', stop)
  return {
    signal: controller.signal,
    forget() {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
      process.off('disconnect', stop)
    },
  }
}

function createBreathe(): () => Promise<void> | undefined {
  let last = realClock.now()
  return () => {
    if (realClock.now() - last < breathSeconds) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        last = realClock.now()
        resolve()
      })
    })
  }
}

function randomSeed(): number {
  const [seed = 1] = crypto.getRandomValues(new Uint32Array(1))
  return seed
}
