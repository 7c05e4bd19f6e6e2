/** Builds the page once before the tests that open it, into dist/page as `npm start` does. */
import { join } from 'node:path'
import { build } from 'vite'

export default async function buildPage(): Promise<void> {
  await build({ configFile: join(import.meta.dirname, '../../vite.config.ts'), logLevel: 'warn' })
}
