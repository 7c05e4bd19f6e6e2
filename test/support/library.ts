/** The library in real tabs without the page: what a program of somebody else does with `import { join } from 'papilio'`. */
import { join } from 'node:path'
import { build } from 'vite'

/** client/index.ts as one classic script that defines `papilio`. */
export function bundleLibrary(): Promise<string> {
  return bundleScript(join(import.meta.dirname, '../../client/index.ts'), 'papilio')
}

/** A module as one classic script that defines `name`. */
export async function bundleScript(entry: string, name: string): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: 'warn',
    // A classic script has no address of its own to find the worker's script by: the group runs on the thread of the page.
    define: { 'import.meta.url': '""' },
    build: {
      write: false,
      minify: false,
      lib: { entry, formats: ['iife'], name },
    },
  })
  const [result] = Array.isArray(output) ? output : [output]
  if (!result || !('output' in result)) throw new Error('The library was not built.')
  const scripts = result.output.flatMap((chunk) => (chunk.type === 'chunk' ? [chunk.code] : []))
  // An init script runs inside a function.
  return [...scripts, `globalThis.${name} = ${name}`].join('\n')
}
