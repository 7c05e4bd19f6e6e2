/** `npm run trials`: what takes minutes, or all of a machine. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const root = join(import.meta.dirname, '../..')

export default defineConfig({
  root,
  test: {
    include: ['test/trials/**/*.test.ts'],
    globalSetup: ['test/support/buildPage.ts'],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
})
