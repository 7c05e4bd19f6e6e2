/** A Chromium of its own for a command: started without a window, with an empty profile; when the command ends, however it does, nothing of it is left. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../shared/base/clock.ts'
import { UnsupportedError } from '../../shared/base/errors.ts'
import { requireChromium } from './chromiumPath.ts'
import { Devtools } from './devtools.ts'

export interface Chromium {
  readonly devtools: Devtools
  /** Rejects when it ends before it was closed. */
  readonly ended: Promise<never>
  close(): Promise<void>
}

const flags = [
  '--headless',
  '--remote-debugging-pipe',
  '--no-first-run',
  '--no-default-browser-check',
  // Tabs measure, and none of them is looked at: they must not be slowed down for that.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  // A process for each tab: tabs of one site would share some.
  '--process-per-tab',
  // Addresses instead of names that only multicast resolves: these tabs are nobody's.
  '--disable-features=WebRtcHideLocalIpsWithMdns',
  '--disable-gpu',
  // Containers have little shared memory.
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
/** How long it may take to end by itself. */
const closeSeconds = 3
const mostWords = 2000
const isWindows = process.platform === 'win32'

/** @throws UnsupportedError there is none, or it does not start */
export async function startChromium(clock: Clock): Promise<Chromium> {
  const path = requireChromium()
  const profile = mkdtempSync(join(tmpdir(), 'papilio-chromium-'))
  // Its sandbox refuses to work for root.
  const all = [...flags, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), `--user-data-dir=${profile}`]
  const child = spawn(path, [...all, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    // In a group of its own: Ctrl-C is for the command, which lets the peers end the benchmark together.
    detached: !isWindows,
  })
  const [, , stderr, input, output] = child.stdio as unknown as [null, null, Readable, Writable, Readable]
  const devtools = new Devtools(input, output)
  let said = ''
  stderr.on('data', (data: Buffer) => {
    said = (said + data.toString()).slice(-mostWords)
  })
  /** All its processes; those that are gone are no error. */
  const kill = () => {
    try {
      if (child.pid !== undefined && !isWindows) process.kill(-child.pid, 'SIGKILL')
      else child.kill('SIGKILL')
    } catch {}
  }
  const clear = () => rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
  const onExit = () => {
    kill()
    clear()
  }
  process.once('exit', onExit)
  // Not `exit`: the last helper that holds stderr may still write into the profile.
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  const ended = new Promise<never>((_, reject) => {
    const end = (why: string) => {
      const error = new UnsupportedError('Chromium', `${path} ${why}.${said && ` It said: ${said.trim()}`}`)
      devtools.end(error)
      reject(error)
    }
    child.once('error', ({ message }) => end(`does not start: ${message}`))
    child.once('exit', (code, signal) => end(`has ended with ${signal ?? `status ${code}`}`))
  })
  ended.catch(() => {})
  const close = async () => {
    const cancel = clock.after(closeSeconds, kill)
    await devtools.call('Browser.close').catch(() => {})
    await ended.catch(() => {})
    kill()
    await closed
    cancel()
    process.off('exit', onExit)
    clear()
  }
  try {
    await devtools.call('Browser.getVersion')
  } catch (error) {
    await close()
    throw error
  }
  return { devtools, ended, close }
}
