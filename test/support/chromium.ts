/** How the tests start the Chromium or Chrome of this machine, and how they get one. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findChromium, requireChromium } from '../../client/cli/chromiumPath.ts'

/** No sandbox: tests run as root in containers. The rest keeps a test browser from talking to anybody but us. */
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
] as const

/** On Debian as root a missing Chromium is installed; elsewhere the error says what to do. */
export function ensureChromium(): string {
  const isDebianRoot = existsSync('/etc/debian_version') && process.getuid?.() === 0
  if (findChromium() === undefined && !process.env.PAPILIO_CHROMIUM && isDebianRoot) {
    console.log('No Chromium was found: installing the Debian package chromium.')
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    for (const args of [
      ['update', '-q'],
      ['install', '-y', '-q', '--no-install-recommends', 'chromium'],
    ])
      execFileSync('apt-get', args, { stdio: ['ignore', 'inherit', 'inherit'], env })
  }
  return requireChromium()
}
