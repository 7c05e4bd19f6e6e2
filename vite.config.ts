import { defineConfig } from 'vite'

/** The page is built from client/page to dist/page, which the server serves. The tests have vitest.config.ts. */
export default defineConfig({
  root: 'client/page',
  build: { outDir: '../../dist/page', emptyOutDir: true, target: 'es2022' },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})
