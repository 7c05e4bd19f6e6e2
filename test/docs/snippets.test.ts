/**
 * The TypeScript of the guides: every ```ts block compiles as a reader would compile it, importing `papilio` by name.
 * A block marked ```ts run is also run; its comments `// → text` are the lines that it prints.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Block, blocksOf, guides, root } from './markdown.ts'

// Inside the package, so that `import 'papilio'` leads to its own exports.
const folder = join(root, '.papilio/docs')
const snippets = guides()
  .flatMap((file) => blocksOf(file))
  .filter(({ language }) => language === 'ts')
  .map((block) => ({
    ...block,
    path: join(folder, `${block.file.replace(/\W+/g, '-')}-${block.line}.ts`),
    title: `${block.file}:${block.line}`,
  }))

const source = ({ given, code }: Block) => `${given}\n${code}\nexport {}\n`

function compile(): Map<string, string[]> {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  // A reader's example may leave a result unused.
  const readerOptions = { ...options, noUnusedLocals: false, noUnusedParameters: false }
  const program = ts.createProgram(
    snippets.map(({ path }) => path),
    readerOptions,
  )
  const problems = new Map<string, string[]>()
  for (const { file, start, messageText } of ts.getPreEmitDiagnostics(program)) {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 0
    const text = `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    const path = file?.fileName ?? ''
    problems.set(path, [...(problems.get(path) ?? []), text])
  }
  return problems
}

let problems = new Map<string, string[]>()

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  for (const snippet of snippets) writeFileSync(snippet.path, source(snippet))
  problems = compile()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('TypeScript of the guides', () => {
  it('is there', () => expect(snippets.length).toBeGreaterThan(0))

  for (const { path, title, marks, code } of snippets) {
    it(`${title} compiles`, () => expect(problems.get(path) ?? []).toEqual([]))

    if (marks.includes('run'))
      it(`${title} runs and prints what it says`, () => {
        const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
        const { status, stdout, stderr } = spawnSync(process.execPath, [tsx, path], {
          cwd: root,
          encoding: 'utf8',
          timeout: 60_000,
        })
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
        const promised = [...code.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1])
        expect(stdout.split('\n').filter((line) => line !== '')).toEqual(promised)
      })
  }
})
