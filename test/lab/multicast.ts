/**
 * Two Chromiums with their default flags, each on a host of its own, on a network without multicast: their .local
 * candidates cannot be resolved, so only the address that the server's STUN responder tells them connects the two.
 * Prints which candidates were used, runs an allreduce, and ends with status 0 when its result is right.
 *
 * npm run lab:multicast     (root, gcc, iproute2, /dev/net/tun; see README.md beside this file)
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Tab, Tabs } from '../support/pages.ts'
import { type Lab, startLab } from './hosts.ts'

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

async function openOn(lab: Lab, host: number, url: string): Promise<{ tab: Tab; tabs: Tabs }> {
  const { context } = await lab.launchChromium(host)
  const tabs = new Tabs(context, { url })
  await tabs.addScript(keepConnections)
  return { tab: await tabs.open(url), tabs }
}

async function main(): Promise<void> {
  if (!existsSync(join(import.meta.dirname, '../../dist/page/index.html')))
    throw new Error('The page is not built: npm run build')

  const lab = startLab(2, ['--no-multicast'])
  try {
    await connect(lab)
  } finally {
    await lab.close()
  }
}

async function connect(lab: Lab): Promise<void> {
  const url = await lab.startServer()
  console.log(`The server is on host 0: ${url}`)

  const first = await openOn(lab, 1, url)
  const second = await openOn(lab, 2, (await first.tab.joinUrl()).href)
  const begin = performance.now()
  await Promise.all([first, second].map(({ tab }) => tab.waitForGroup(2)))
  console.log(
    `Two Chromiums on hosts 1 and 2 are connected after ${Math.round(performance.now() - begin)} ms.`,
  )
  console.log(`Candidates of host 1: ${await first.tab.page.evaluate(usedCandidates)}`)
  console.log(`Candidates of host 2: ${await second.tab.page.evaluate(usedCandidates)}`)

  await first.tab.run()
  console.log(`Allreduce: ${await first.tab.page.locator('[data-testid="verify"] p').first().textContent()}`)
  console.log(lab.tell('stats'))
  const problems = [...first.tabs.problems(), ...second.tabs.problems()]
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
process.exit(process.exitCode ?? 0)
