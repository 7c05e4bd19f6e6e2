import { defineConfig } from 'vitest/config'

/** The page is built from client/page to dist/page; the test projects are named after what they need. */
export default defineConfig({
  root: 'client/page',
  build: { outDir: '../../dist/page', emptyOutDir: true, target: 'es2022' },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    root: '.',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          root: '.',
          include: ['test/{shared,server,client,docs}/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
    ],
  },
})
