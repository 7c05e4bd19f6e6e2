/** `papilio serve`: starts the server and tells people how to reach it. */
import { renderUnicodeCompact } from 'uqr'
import { createServer, type Listening, type PapilioServer } from '../../server/app.ts'
import { readOptions } from '../../server/config.ts'
import { type Setting, settings } from '../../server/settings.ts'
import { ArgumentError } from '../../shared/base/errors.ts'
import { readFlags } from './flags.ts'
import type { Output } from './output.ts'

const table: readonly Setting[] = Object.values(settings)

/** A stop that takes longer than this is ended, seconds. */
const stopSeconds = 10

/** Resolves with the exit status when the server has stopped: 0, 1 (port or host cannot be had) or 2 (wrong setting). */
export async function serve(argv: readonly string[], out: Output): Promise<number> {
  let server: PapilioServer
  try {
    const values = readFlags(argv, flags())
    if (values.help) {
      out.line(help())
      return 0
    }
    const defaults = { logLevel: process.stdout.isTTY ? 'warn' : 'info' } as const
    server = createServer({ ...defaults, ...readOptions(process.env, values) })
  } catch (error) {
    out.error(sentence(error))
    return 2
  }
  let listening: Listening
  try {
    listening = await server.listen()
  } catch (error) {
    out.error(sentence(error))
    return 1
  }
  for (const line of welcome(listening)) out.line(line)
  await untilStopped()
  out.error('Stopping: open groups go on, nobody new can join.')
  setTimeout(() => process.exit(1), stopSeconds * 1000).unref()
  await server.close()
  return 0
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve())
    process.once('SIGINT', () => resolve())
  })
}

/** What the terminal shows: links, a QR code for phones, and what plain http in a LAN lacks. */
export function welcome({ urls, port, stunPort, hasPage }: Listening): readonly string[] {
  const lines = [`On this computer:  ${urls.local}`, ...urls.lan.map((url) => `In your network:   ${url}`)]
  const [first] = urls.lan
  if (first === undefined) {
    lines.push('Other computers cannot reach this address; set HOST=0.0.0.0 to let them.')
  } else {
    lines.push('', renderUnicodeCompact(first), '')
    lines.push(
      'Over plain http a browser keeps back the clipboard, the wake lock and sharing on other devices; all else works. For those, put an https proxy in front (docs/deploy.md).',
    )
  }
  if (stunPort === undefined) {
    lines.push(
      `No STUN: UDP port ${port} is switched off or taken by another program. Tabs may not connect on networks that block multicast; STUN_PORT takes another port.`,
    )
  }
  if (!hasPage) lines.push('The page is not built yet: run npm run build, then reload.')
  return lines
}

function flags() {
  const named = table.flatMap(({ flag }) => (flag === undefined ? [] : [[flag, { type: 'string' }] as const]))
  return { ...Object.fromEntries(named), help: { type: 'boolean', short: 'h' } } as const
}

function help(): string {
  const rows = table.map(({ env, flag, help }) => [flag ? `--${flag}` : '', env, help] as const)
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length))
  return [
    'Usage: papilio serve [options]',
    '',
    'Starts signalling, STUN and the page on one port. Flags win over environment variables; defaults in brackets.',
    '',
    ...rows.map(([flag, env, help]) => `  ${flag.padEnd(width(0))}  ${env.padEnd(width(1))}  ${help}`),
  ].join('\n')
}

/** A wrong flag or setting is the user's to correct; anything else is ours and keeps its stack. */
function sentence(error: unknown): string {
  if (!(error instanceof ArgumentError)) throw error
  return error.argument === 'argv' ? `${error.message}.\nSee papilio serve --help.` : error.message
}
