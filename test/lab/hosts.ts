/** A lab for one experiment: its hosts, the server on host 0, and the end of all that was started. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireChromium } from '../../client/cli/chromiumPath.ts'
import { launchChromium, type Running } from '../support/launch.ts'

const root = join(import.meta.dirname, '../..')
const lab = join(import.meta.dirname, 'lab')
const node = [process.execPath, '--import', 'tsx']
const newLine = 0x0a

export interface Lab {
  /** For files that belong to the experiment; gone with it. */
  readonly folder: string
  /** Of the namespaces' names: host n is `${prefix}${n}`. */
  readonly prefix: string
  address(host: number): string
  /** Starts a program on a host; it ends with the lab. */
  start(host: number, command: readonly string[], options?: SpawnOptions): ChildProcess
  /** A module of this repository as a Node process on a host. */
  startModule(host: number, path: string, options?: SpawnOptions): ChildProcess
  /** The Papilio server on host 0; its address as hosts see it. */
  startServer(): Promise<string>
  /** Playwright talks to it through a pipe, so it may stay outside of the namespace. */
  launchChromium(host: number): Promise<Running>
  /** The answer of the switch to a command, as `lab tell` gives it. */
  tell(command: string): string
  /** Frames that the switch has dropped so far. */
  dropped(): number
  close(): Promise<void>
}

/** Host 0 and `hosts` more. An interrupted process takes its lab down. */
export function startLab(hosts: number, options: readonly string[]): Lab {
  if (process.getuid?.() !== 0) throw new Error('The lab makes network namespaces: run this as root.')
  const folder = mkdtempSync(join(tmpdir(), 'papilio-lab-'))
  const prefix = `papilio${process.pid}-`
  const env = { ...process.env, LAB_STATE: join(folder, 'lab'), LAB_PREFIX: prefix }
  const run = (...args: string[]) => execFileSync(lab, args, { env, encoding: 'utf8' }).trim()
  const cleanups: (() => unknown)[] = [
    () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
    () => run('down'),
  ]
  let closing: Promise<void> | undefined
  let [toSwitch, fromSwitch] = [-1, -1]
  const close = async () => {
    for (const cleanup of cleanups.reverse())
      try {
        await cleanup()
      } catch (error) {
        console.error(error instanceof Error ? error.message : error)
      }
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt)
  }
  const interrupt = (name: NodeJS.Signals) => {
    console.error(`${name}: taking the lab down.`)
    void made.close().finally(() => process.exit(name === 'SIGINT' ? 130 : 143))
  }
  const made: Lab = {
    folder,
    prefix,
    address: (host) => `10.77.${Math.floor((host + 1) / 250)}.${(host + 1) % 250}`,
    start(host, command, spawnOptions = {}) {
      const child = spawn(lab, ['exec', String(host), ...command], { cwd: root, env, ...spawnOptions })
      cleanups.push(() => child.kill('SIGKILL'))
      return child
    },
    startModule: (host, path, spawnOptions) => made.start(host, [...node, path], spawnOptions),
    async startServer() {
      const child = made.start(
        0,
        [...node, 'client/cli/main.ts', 'serve', '--port', '3000', '--log-level', 'warn'],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      await new Promise<void>((resolve, reject) => {
        child.stdout?.on('data', (data: Buffer) => {
          if (data.toString().includes('http://')) resolve()
        })
        child.once('exit', (status) => reject(new Error(`papilio serve ended with status ${status}`)))
      })
      return `http://${made.address(0)}:3000`
    },
    async launchChromium(host) {
      const executablePath = join(folder, `chromium-${host}`)
      writeFileSync(
        executablePath,
        `#!/bin/sh\nexec ip netns exec ${prefix}${host} ${requireChromium()} "$@"\n`,
      )
      chmodSync(executablePath, 0o755)
      const running = await launchChromium({ executablePath, handleSIGINT: false, handleSIGTERM: false })
      cleanups.push(() => running.close())
      return running
    },
    tell(command) {
      if (closing !== undefined) throw new Error('The lab is going down.')
      writeSync(toSwitch, `${command}\n`)
      const answer = Buffer.alloc(64 * 1024)
      let length = 0
      do length += readSync(fromSwitch, answer, length, answer.length - length, null)
      while (answer[length - 1] !== newLine && length < answer.length)
      return answer.toString('utf8', 0, length).trim()
    },
    dropped: () =>
      [...made.tell('stats').matchAll(/dropped=(\d+)/g)].reduce((sum, [, frames]) => sum + Number(frames), 0),
    close: () => (closing ??= close()),
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt)
  try {
    run('up', String(hosts), ...options)
    // Without a shell in between: asking must not take the processor from what is measured. As in `lab`, a pipe that is open both ways
    // stays open.
    toSwitch = openSync(join(folder, 'lab/in'), 'r+')
    fromSwitch = openSync(join(folder, 'lab/out'), 'r+')
    cleanups.push(() => {
      closeSync(toSwitch)
      closeSync(fromSwitch)
    })
  } catch (error) {
    void made.close()
    throw error
  }
  return made
}
