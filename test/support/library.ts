/** The library in real tabs without the page: what a program of somebody else does with `import { join } from 'papilio'`. */
import { join } from 'node:path'
import { build } from 'vite'

/** client/index.ts as one classic script that defines `papilio`. */
export function bundleLibrary(): Promise<string> {
  return bundleScript(join(import.meta.dirname, '../../client/index.ts'), 'papilio')
}

/** client/index.ts as modules, the worker's script among them: by their paths, which lead to each other. */
export async function buildModules(): Promise<{ entry: string; files: ReadonlyMap<string, string> }> {
  const output = await build({
    configFile: false,
    logLevel: 'warn',
    base: './',
    root: join(import.meta.dirname, '../..'),
    worker: { format: 'es' },
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      rolldownOptions: {
        input: join(import.meta.dirname, '../../client/index.ts'),
        preserveEntrySignatures: 'strict',
      },
    },
  })
  const [result] = Array.isArray(output) ? output : [output]
  if (!result || !('output' in result)) throw new Error('The library was not built.')
  const files = new Map(
    result.output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : String(file.source)]),
  )
  const entry = result.output.find((file) => file.type === 'chunk' && file.isEntry)
  if (!entry) throw new Error('The library was built without an entry.')
  return { entry: entry.fileName, files }
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
