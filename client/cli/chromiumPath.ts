/** Where the Chromium or Chrome of this machine is. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { UnsupportedError } from '../../shared/base/errors.ts'

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

/** @throws UnsupportedError that says what to do */
export function requireChromium(env: NodeJS.ProcessEnv = process.env): string {
  const path = findChromium(env)
  if (path !== undefined) return path
  throw new UnsupportedError(
    'Chromium',
    env.PAPILIO_CHROMIUM
      ? `PAPILIO_CHROMIUM names ${env.PAPILIO_CHROMIUM}, which is not an executable file.`
      : 'No Chromium or Chrome was found. Install one (Debian, Ubuntu: apt-get install chromium), or set PAPILIO_CHROMIUM to its path.',
  )
}
