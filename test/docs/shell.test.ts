/**
 * The shell lines of the guides: npm scripts exist, and every command and option of `papilio` is one that its own
 * help names. Other programs must be on a short list, so that a guide does not ask for tools without saying so.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocksOf, guides, root } from './markdown.ts'

const scripts = (
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
).scripts
const otherPrograms = ['git', 'cd', 'apt-get', 'curl', 'test/lab/lab', 'bash', 'ss', 'ip']

const lines = guides()
  .flatMap((file) => blocksOf(file))
  .filter(({ language }) => language === 'sh')
  .flatMap(({ file, line, code }) =>
    code.split('\n').map((text, index) => ({ title: `${file}:${line + 1 + index}`, text })),
  )
  .flatMap(({ title, text }) =>
    text
      .replace(/(^|\s)#.*$/, '')
      .split(/&&|\|\||[|;]/)
      .map((command) => ({
        title,
        words: command
          .trim()
          .split(/\s+/)
          .filter((word) => word !== ''),
      })),
  )
  .map(({ title, words }) => ({
    title,
    words: words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word))),
  }))
  .filter(({ words }) => words.length > 0)

function help(...command: string[]): string {
  const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
  return execFileSync(process.execPath, [tsx, 'client/cli/main.ts', ...command, '--help'], {
    cwd: root,
    encoding: 'utf8',
  })
}

/** `papilio plan --size 7`: the command is in the help, and each option in the command's own help. */
function checkPapilio(words: readonly string[]): void {
  const [command, ...rest] = words
  if (command === undefined) return
  expect(help()).toMatch(new RegExp(`\\b${command}\\b`))
  const text = help(command)
  for (const option of rest.filter((word) => word.startsWith('-')).map((word) => word.split('=')[0]!))
    expect(text, `papilio ${command} has no option ${option}`).toMatch(
      new RegExp(`(^|[\\s,])${option}\\b`, 'm'),
    )
}

describe('shell lines of the guides', () => {
  it('are there', () => expect(lines.length).toBeGreaterThan(0))

  for (const { title, words } of lines)
    it(`${title}: ${words.join(' ')}`, () => {
      const [program, verb, ...rest] = words
      if (program === 'npm' && verb === 'run') {
        const script = rest[0]!
        expect(Object.keys(scripts)).toContain(script)
        if (script === 'papilio') checkPapilio(rest.slice(rest.indexOf('--') + 1))
      } else if (program === 'npm') {
        expect(['ci', 'start', 'test']).toContain(verb)
        if (verb === 'start' || verb === 'test') expect(Object.keys(scripts)).toContain(verb)
      } else if (program === 'npx') {
        expect(['papilio', 'vitest']).toContain(verb)
        if (verb === 'papilio') checkPapilio(rest)
      } else expect(otherPrograms).toContain(program)
    })
})
