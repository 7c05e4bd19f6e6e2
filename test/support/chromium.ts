/** Where the Chromium or Chrome of this machine is, and how the tests start it. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

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

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const installed = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
]

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Path of a Chromium: PAPILIO_CHROMIUM, else the first known name on PATH, else a usual place. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.PAPILIO_CHROMIUM) return isExecutable(env.PAPILIO_CHROMIUM) ? env.PAPILIO_CHROMIUM : undefined
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [...onPath, ...installed].find(isExecutable)
}

/** The path, or an error that says what to do. */
export function requireChromium(env: NodeJS.ProcessEnv = process.env): string {
  const path = findChromium(env)
  if (path !== undefined) return path
  throw new Error(
    env.PAPILIO_CHROMIUM
      ? `PAPILIO_CHROMIUM names ${env.PAPILIO_CHROMIUM}, which is not an executable file.`
      : 'No Chromium or Chrome was found. Install one (Debian, Ubuntu: apt-get install chromium), or set PAPILIO_CHROMIUM to its path.',
  )
}

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
