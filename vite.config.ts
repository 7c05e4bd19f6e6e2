import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'
import { digitsPlugin } from './client/learn/digitsPlugin.ts'

/** Where `npm run dev` has the signalling server; the page reaches it through Vite's own port. */
const devServer = 'http://localhost:3001'

/** Starts the signalling server beside Vite and restarts it when its sources change. */
function signaling(): Plugin {
  return {
    name: 'papilio-signaling',
    apply: 'serve',
    configureServer({ httpServer }) {
      if (!httpServer) return
      const tsx = join(import.meta.dirname, 'node_modules/tsx/dist/cli.mjs')
      const main = join(import.meta.dirname, 'client/cli/main.ts')
      const child = spawn(
        process.execPath,
        [tsx, 'watch', main, 'serve', '--port', new URL(devServer).port],
        {
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      )
      httpServer.once('close', () => child.kill())
      process.once('exit', () => child.kill())
    },
  }
}

/** The page is built from client/page to dist/page, which the server serves. The tests have vitest.config.ts. */
export default defineConfig({
  root: 'client/page',
  build: { outDir: '../../dist/page', emptyOutDir: true, target: 'es2022' },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [signaling(), digitsPlugin()],
  server: { proxy: { '/socket.io': { target: devServer, ws: true } } },
})
