/** The library in real tabs without the page: what a program of somebody else does with `import { join } from 'papilio'`. */
import { join } from 'node:path'
import { build } from 'vite'

/** client/index.ts as one classic script that defines `papilio`. */
export async function bundleLibrary(): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      minify: false,
      lib: { entry: join(import.meta.dirname, '../../client/index.ts'), formats: ['iife'], name: 'papilio' },
    },
  })
  const [result] = Array.isArray(output) ? output : [output]
  if (!result || !('output' in result)) throw new Error('The library was not built.')
  const scripts = result.output.flatMap((chunk) => (chunk.type === 'chunk' ? [chunk.code] : []))
  // An init script runs inside a function.
  return [...scripts, 'globalThis.papilio = papilio'].join('\n')
}
