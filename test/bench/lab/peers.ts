/** The peers of a lab, one on each host from 1 on: processes or tabs behind one interface. */
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Lab } from '../../lab/hosts.ts'
import { bundleScript } from '../../support/library.ts'
import type { Answers, Command } from './member.ts'
import type { run } from './tabPeer.ts'

declare const labPeer: { run: typeof run }

/** Makes a peer do something, and resolves with what it says. */
export type Peer = <Name extends Command['do']>(
  command: Extract<Command, { do: Name }>,
) => Promise<Answers[Name]>

interface Said {
  readonly value?: unknown
  readonly error?: string
}

export async function startNodePeer(lab: Lab, host: number): Promise<Peer> {
  const child = lab.startModule(host, join(import.meta.dirname, 'nodePeer.ts'), {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('A peer has no pipes.')
  let settle: ((said: Said) => void) | undefined
  createInterface({ input: stdout }).on('line', (line) => settle?.(JSON.parse(line)))
  child.once('exit', (status, signal) => settle?.({ error: `it ended with ${signal ?? `status ${status}`}` }))
  stdin.on('error', () => settle?.({ error: 'it does not listen any more' }))
  const ask = (command: Command) =>
    new Promise<unknown>((resolve, reject) => {
      settle = ({ value, error }) =>
        error === undefined
          ? resolve(value)
          : reject(new Error(`The peer on host ${host}, told to ${command.do}: ${error}`))
      stdin.write(`${JSON.stringify(command)}\n`)
    })
  return ask as Peer
}

/** A Chromium for each: a namespace belongs to a process. */
export async function startTabPeer(lab: Lab, host: number, url: string, script: string): Promise<Peer> {
  const { context } = await lab.launchChromium(host)
  const page = await context.newPage()
  // The policy of the server forbids scripts of others in its pages, but not those that are there before.
  await page.addInitScript({ content: script })
  await page.goto(new URL('/livez', url).href)
  return ((command: Command) => page.evaluate((given) => labPeer.run(given), command)) as Peer
}

export const bundleTabPeer = () => bundleScript(join(import.meta.dirname, 'tabPeer.ts'), 'labPeer')
