/**
 * Two Chromiums with their default flags, each on a host of its own, on a network without multicast: their .local
 * candidates cannot be resolved, so only the address that the server's STUN responder tells them connects the two.
 * Prints which candidates were used, runs an allreduce, and ends with status 0 when its result is right.
 *
 * npm run lab:multicast     (root, gcc, iproute2, /dev/net/tun; see README.md beside this file)
 */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireChromium } from '../support/chromium.ts'
import { launchChromium, type Running } from '../support/launch.ts'
import { type Tab, Tabs } from '../support/pages.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'papilio-lab-'))
const lab = join(import.meta.dirname, 'lab')
const prefix = 'papilio'
const env = { ...process.env, LAB_STATE: join(folder, 'lab'), LAB_PREFIX: prefix }
const runLab = (...args: string[]) => execFileSync(lab, args, { env, encoding: 'utf8' }).trim()
const cleanups: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]

/** Keeps the page's connections at hand: only they know which candidates they use. */
const keepConnections = `{
  const Native = globalThis.RTCPeerConnection
  globalThis.connections = []
  globalThis.RTCPeerConnection = class RTCPeerConnection extends Native {
    constructor(...args) {
      super(...args)
      globalThis.connections.push(this)
    }
  }
}`

/** Types of the local and the remote candidate of each connected pair. As text: it runs in the page as it is. */
const usedCandidates = `(async () => {
  const used = []
  for (const connection of globalThis.connections) {
    const stats = await connection.getStats()
    for (const pair of stats.values())
      if (pair.type === 'candidate-pair' && pair.nominated && pair.state === 'succeeded')
        used.push(stats.get(pair.localCandidateId).candidateType + ' to ' + stats.get(pair.remoteCandidateId).candidateType)
  }
  return used.join(', ')
})()`

async function startServer(): Promise<string> {
  const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
  const child = spawn(
    lab,
    ['exec', '0', process.execPath, tsx, 'client/cli/main.ts', 'serve', '--port', '3000'],
    {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  cleanups.push(() => child.kill())
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      if (data.toString().includes('http://')) resolve()
    })
    child.once('exit', (status) => reject(new Error(`papilio serve ended with status ${status}`)))
  })
  return 'http://10.77.0.1:3000'
}

/** A Chromium on host `host`. Playwright talks to it through a pipe, so it may stay outside of the namespace. */
async function launchOn(host: number): Promise<Running> {
  const executablePath = join(folder, `chromium-${host}`)
  writeFileSync(executablePath, `#!/bin/sh\nexec ip netns exec ${prefix}${host} ${requireChromium()} "$@"\n`)
  chmodSync(executablePath, 0o755)
  const running = await launchChromium({ executablePath })
  cleanups.push(() => running.close())
  return running
}

async function openOn(host: number, url: string): Promise<{ tab: Tab; tabs: Tabs }> {
  const { context } = await launchOn(host)
  const tabs = new Tabs(context, { url })
  await tabs.addScript(keepConnections)
  return { tab: await tabs.open(url), tabs }
}

async function main(): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('The lab makes network namespaces: run this as root.')
  if (!existsSync(join(root, 'dist/page/index.html'))) throw new Error('The page is not built: npm run build')

  console.log(runLab('up', '2', '--no-multicast'))
  cleanups.push(() => runLab('down'))
  const url = await startServer()
  console.log(`The server is on host 0: ${url}`)

  const first = await openOn(1, url)
  const second = await openOn(2, (await first.tab.joinUrl()).href)
  const begin = performance.now()
  await Promise.all([first, second].map(({ tab }) => tab.waitForGroup(2)))
  console.log(
    `Two Chromiums on hosts 1 and 2 are connected after ${Math.round(performance.now() - begin)} ms.`,
  )
  console.log(`Candidates of host 1: ${await first.tab.page.evaluate(usedCandidates)}`)
  console.log(`Candidates of host 2: ${await second.tab.page.evaluate(usedCandidates)}`)

  await first.tab.run()
  console.log(`Allreduce: ${await first.tab.page.locator('[data-testid="verify"] p').first().textContent()}`)
  console.log(runLab('tell', 'stats'))
  const problems = [...first.tabs.problems(), ...second.tabs.problems()]
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup()
}
