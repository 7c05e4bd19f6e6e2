/** `papilio bench --browser`: the command as a person types it, with a Chromium that it starts and ends by itself. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { problemsOf } from '../support/jsonSchema.ts'

const root = join(import.meta.dirname, '../..')
const schema = JSON.parse(readFileSync(join(root, 'docs/bench-result.schema.json'), 'utf8'))
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'papilio-bench-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('measures two tabs beside their raw channels, tells their results, and leaves no profile behind', async () => {
  const flags = '--browser -p 2 -b 64 -e 1K -n 2 -w 1 --baseline raw --format json'.split(' ')
  const argv = ['--import', 'tsx', 'client/cli/main.ts', 'bench', ...flags]
  const child = spawn(process.execPath, argv, { cwd: root, env: { ...process.env, TMPDIR: folder } })
  let said = ''
  let complained = ''
  child.stdout.on('data', (data: Buffer) => {
    said += data.toString()
  })
  child.stderr.on('data', (data: Buffer) => {
    complained += data.toString()
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  expect({ code, complained }).toEqual({ code: 0, complained: '' })
  const result = JSON.parse(said)
  expect(problemsOf(result, schema)).toEqual([])
  // Three sizes, each by auto and raw.
  expect(result.results).toHaveLength(6)
  expect(said).toContain('Chrome')
  expect(readdirSync(folder).filter((name) => name.startsWith('papilio-chromium'))).toEqual([])
})
