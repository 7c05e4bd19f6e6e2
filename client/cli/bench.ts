/** `papilio bench`: times a collective between peers and prints the table of nccl-tests, or another one. */
import { readFileSync } from 'node:fs'
import { createServer, type PapilioServer } from '../../server/app.ts'
import { realClock } from '../../shared/base/clock.ts'
import { AbortedError, ArgumentError, UnsupportedError } from '../../shared/base/errors.ts'
import { createBenchOutput } from './benchOutput.ts'
import { benchOnNode, followerMark, type Others, type Place, startOthers } from './benchPeers.ts'
import { type BenchCommand, benchHelp, readBenchRequest } from './benchRequest.ts'
import { benchInTabs } from './benchTabs.ts'
import { sharesOf } from './crewProcesses.ts'
import { exitCodeOf, exitCodes } from './exitCodes.ts'
import type { Output } from './output.ts'

/** Of a server of its own. */
const ownRoom = 'bench'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Resolves with the exit status (exitCodes.ts). */
export async function bench(argv: readonly string[], out: Output): Promise<number> {
  let command: BenchCommand | undefined
  try {
    command = readBenchRequest(argv)
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error
    out.error(`${error.message}.\nSee papilio bench --help.`.replace('..', '.'))
    return exitCodes.usage
  }
  if (!command) {
    out.line(benchHelp())
    return exitCodes.fine
  }
  const { signal, forget } = untilInterrupted()
  try {
    return process.env[followerMark] ? await follow(command, signal) : await lead(command, argv, out, signal)
  } finally {
    forget()
  }
}

async function lead(
  command: BenchCommand,
  argv: readonly string[],
  out: Output,
  signal: AbortSignal,
): Promise<number> {
  const { peers, processes, size, plan } = command
  const output = createBenchOutput(command, {
    out,
    argv,
    version,
    now: () => new Date(),
    progress: process.stderr.isTTY ? (text) => process.stderr.write(text) : undefined,
    hasColor: process.stdout.isTTY && !process.env.NO_COLOR,
  })
  const [own = 1, ...shares] = sharesOf(peers, processes)
  let server: PapilioServer | undefined
  let others: Others | undefined
  let failure: unknown
  try {
    if (!command.place) server = createOwnServer()
    const place = command.place ?? (await listen(server!, command))
    const common = { place, create: true, size, plan, clock: realClock, signal, onEvent: output.tell }
    if (command.isInBrowser) await benchInTabs({ ...common, shares: [own, ...shares] })
    else
      await benchOnNode({
        ...common,
        count: own,
        whileSeated() {
          others = startOthers(shares, place, size, argv)
          return others.failed
        },
      })
  } catch (error) {
    failure = error
  }
  if (failure !== undefined) others?.stop()
  await others?.codes
  await server?.close()
  return output.finish(failure)
}

/** A process with some of the peers; who started it tells the rest. */
async function follow({ place, peers, size, plan }: BenchCommand, signal: AbortSignal): Promise<number> {
  try {
    await benchOnNode({ place: place!, create: false, count: peers, size, plan, clock: realClock, signal })
    return exitCodes.fine
  } catch (error) {
    return exitCodeOf(error)
  }
}

function createOwnServer(): PapilioServer {
  return createServer({ port: 0, host: '127.0.0.1', logLevel: 'error', joinsPerMinute: 1_000_000 })
}

async function listen(server: PapilioServer, { isInBrowser }: BenchCommand): Promise<Place> {
  const { port, hasPage } = await server.listen()
  if (isInBrowser && !hasPage)
    throw new UnsupportedError('page', 'Tabs need the page, which is not built yet: run npm run build.')
  return { url: new URL(`http://127.0.0.1:${port}`), room: ownRoom }
}

/** Aborted by Ctrl-C, at once when it comes again; also when the process that started this one is gone. */
function untilInterrupted(): { signal: AbortSignal; forget(): void } {
  const controller = new AbortController()
  const abort = () => controller.abort(new AbortedError('Interrupted.'))
  const interrupt = () => {
    // Whoever started this process gets the same signal from the terminal, and ends all of them together.
    if (process.env[followerMark]) return
    if (controller.signal.aborted) process.exit(exitCodes.interrupted)
    abort()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  process.once('disconnect', abort)
  return {
    signal: controller.signal,
    forget() {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
      process.off('disconnect', abort)
    },
  }
}
