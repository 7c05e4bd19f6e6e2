/** `papilio bench` as people start it: peers in processes of their own, on a server of its own. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { problemsOf } from '../support/jsonSchema.ts'

const root = join(import.meta.dirname, '../..')
const schema = JSON.parse(readFileSync(join(root, 'docs/bench-result.schema.json'), 'utf8'))

/** Calls `look` with all that came so far at each piece of output. */
function papilio(argv: readonly string[], look: (stdout: string, interrupt: () => void) => void = () => {}) {
  const child = spawn(process.execPath, [join(root, 'client/cli/papilio.mjs'), ...argv])
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data: Buffer) => {
    stdout += data
    look(stdout, () => child.kill('SIGINT'))
  })
  child.stderr.on('data', (data: Buffer) => {
    stderr += data
  })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, stdout, stderr })),
  )
}

it('measures three peers beside the raw channels, and writes what the schema says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'papilio-bench-'))
  try {
    const file = join(folder, 'r.json')
    const sizes = ['-b', '64', '-e', '1K', '-f', '16', '-n', '2', '-w', '1']
    const { code, stdout, stderr } = await papilio([
      'bench',
      '-p',
      '3',
      ...sizes,
      '--baseline',
      'raw',
      '-J',
      file,
    ])
    expect(code, stderr).toBe(0)
    const rows = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    expect(rows.map((row) => row.trim().split(/\s+/).slice(0, 5).join(' '))).toEqual(
      [64, 64, 1024, 1024].map((bytes) => `${bytes} ${bytes / 4} float sum -1`),
    )
    expect(stdout).toContain('# Out of bounds values : 0 OK')
    const result = JSON.parse(readFileSync(file, 'utf8'))
    expect(problemsOf(result, schema)).toEqual([])
    expect(new Set(result.devices.map(({ agent }: { agent: string }) => agent)).size).toBe(3)
    expect(result.results[0].ratios.raw).toBeGreaterThan(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('ends with 130 and what it has when it is interrupted', async () => {
  let isInterrupted = false
  const sizes = ['-b', '64', '-e', '64', '-w', '1', '-n', '5', '-N', '100000']
  const { code, stdout } = await papilio(['bench', '-p', '2', ...sizes], (soFar, interrupt) => {
    if (isInterrupted || !/^ +64 /m.test(soFar)) return
    isInterrupted = true
    interrupt()
  })
  expect(code).toBe(130)
  expect(stdout).toContain('# The benchmark was stopped.')
  expect(stdout).toContain('# Collective test concluded')
})
