/** A signalling server in a process of its own, which is killed and comes back at the same port. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

export interface ServerProcess {
  readonly url: string
  /** Ends it without a goodbye, and starts it again after so many seconds. Resolves when it listens again. */
  restart(seconds: number): Promise<void>
  /** It listens. */
  isUp(): Promise<void>
  close(): Promise<void>
}

const main = join(import.meta.dirname, '../../client/cli/main.ts')

export async function startServerProcess(): Promise<ServerProcess> {
  let { child, port } = await start(0)
  let up = Promise.resolve()
  const kill = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await ended
    }
  }
  const restart = async (seconds: number) => {
    await kill()
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    child = (await start(port)).child
  }
  return {
    url: `http://127.0.0.1:${port}`,
    restart(seconds) {
      up = up.then(() => restart(seconds))
      return up
    },
    isUp: () => up,
    async close() {
      await up
      await kill()
    },
  }
}

/** Resolves when it says where it listens. */
async function start(port: number): Promise<{ child: ChildProcess; port: number }> {
  const flags = ['--host', '127.0.0.1', '--port', String(port), '--log-level', 'warn']
  const child = spawn(process.execPath, ['--import', 'tsx', main, 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (data: Buffer) => {
      said += data.toString()
      const listening = /http:\/\/(?:localhost|127\.0\.0\.1):(\d+)/.exec(said)
      if (listening) resolve({ child, port: Number(listening[1]) })
    })
    child.once('exit', () => reject(new Error(`The server ended: ${said}`)))
  })
}
