/** `npm test`: makes sure that there is a Chromium, then runs all test projects. Arguments go on to vitest. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureChromium } from './support/chromium.ts'

try {
  ensureChromium()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs')
const { status } = spawnSync(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
