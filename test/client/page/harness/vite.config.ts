/** Serves the harness on loopback: npx vite --config test/client/page/harness/vite.config.ts */
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  server: { host: '127.0.0.1', port: 5198, strictPort: true, fs: { allow: ['../../../..'] } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})
