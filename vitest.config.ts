/**
 * The tests, in projects named after what they need: `unit` nothing, `rtc` WebRTC on Node, `browser` and `e2e` a
 * Chromium, `docs` the guides. vite.config.ts stays free of them: an installation without devDependencies builds the page.
 */
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { findChromium } from './client/cli/chromiumPath.ts'
import { chromiumFlags } from './test/support/chromium.ts'

const root = import.meta.dirname
const executablePath = findChromium()

export default defineConfig({
  root,
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          root,
          include: ['test/{shared,server,client,rules,bench,lab}/**/*.test.{ts,tsx}'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
          // Vitest leaves one core to itself, which on two is half the machine.
          maxWorkers: '100%',
        },
        oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
      },
      {
        test: {
          name: 'rtc',
          root,
          include: ['test/{compliance,faults,real}/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Peers measure and time out in real time: one file at a time has the machine for itself.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        root,
        // Known before the first test: a dependency found later makes Vite reload the page in the middle of one.
        optimizeDeps: { include: ['simple-peer/simplepeer.min.js', 'socket.io-client', 'valibot'] },
        test: {
          name: 'browser',
          root,
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/support/provideServer.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: {
                args: [...chromiumFlags],
                ...(executablePath === undefined ? {} : { executablePath }),
              },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        test: {
          name: 'e2e',
          root,
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/buildPage.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'docs',
          root,
          include: ['test/docs/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
})
