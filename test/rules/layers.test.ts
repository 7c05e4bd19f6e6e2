/** Each layer rule reports a file that breaks it, and lets its neighbours within the rule pass. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const config = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs')) as {
  forbidden: { name: string }[]
}

type Import = [file: string, imported: string]

/** `broken` must be reported under the rule's name, `kept` must not be reported at all; `others` only stand by. */
const cases: Record<string, { broken: Import[]; kept?: Import[]; others?: Import[] }> = {
  'shared-stands-alone': {
    broken: [
      ['shared/collective/a.ts', 'client/rtc/thing.ts'],
      ['shared/base/a.ts', 'server/thing.ts'],
    ],
  },
  'product-without-tests': {
    broken: [
      ['server/a.ts', 'test/thing.ts'],
      ['client/cli/g.ts', 'docs/thing.ts'],
    ],
  },
  'server-without-client': {
    broken: [['server/b.ts', 'client/rtc/thing.ts']],
    kept: [['server/c.ts', 'shared/signaling/thing.ts']],
  },
  'client-without-server': {
    broken: [['client/rtc/a.ts', 'server/thing.ts']],
    kept: [['client/cli/a.ts', 'server/thing.ts']],
  },
  'library-without-page': { broken: [['client/rtc/b.ts', 'client/page/thing.ts']] },
  'page-without-cli': { broken: [['client/page/a.ts', 'client/cli/thing.ts']] },
  'browser-without-node': {
    broken: [
      ['client/page/b.ts', 'client/rtc/nodeThing.ts'],
      ['client/index.ts', 'client/rtc/nodeThing.ts'],
    ],
    kept: [['client/cli/b.ts', 'client/rtc/nodeThing.ts']],
  },
  'links-without-worker': {
    broken: [['client/rtc/f.ts', 'client/worker/thing.ts']],
    kept: [['client/worker/a.ts', 'client/rtc/thing.ts']],
  },
  'session-needs-only-a-group': {
    broken: [
      ['client/session/a.ts', 'client/rtc/thing.ts'],
      ['client/session/b.ts', 'client/page/thing.ts'],
    ],
    kept: [
      ['client/cli/h.ts', 'client/session/thing.ts'],
      ['client/page/e.ts', 'client/session/thing.ts'],
    ],
  },
  'base-is-the-ground': { broken: [['shared/base/b.ts', 'shared/schedule/thing.ts']] },
  'schedule-is-pure': {
    broken: [
      ['shared/schedule/a.ts', 'shared/cost/thing.ts'],
      ['shared/schedule/b.ts', 'shared/collective/thing.ts'],
    ],
    kept: [['shared/schedule/c.ts', 'shared/base/thing.ts']],
  },
  'middle-below-collective': {
    broken: ['transport', 'membership', 'cost', 'wire', 'signaling'].map(
      (folder): Import => [`shared/${folder}/a.ts`, 'shared/collective/thing.ts'],
    ),
    kept: [['shared/cost/b.ts', 'shared/wire/thing.ts']],
  },
  'collective-below-federated': {
    broken: [['shared/collective/b.ts', 'shared/federated/thing.ts']],
    kept: [['shared/federated/a.ts', 'shared/collective/thing.ts']],
  },
  'one-file-knows-simple-peer': {
    broken: [['client/rtc/c.ts', 'simple-peer']],
    kept: [['client/rtc/simplePeer.ts', 'simple-peer/simplepeer.min.js']],
  },
  'one-file-knows-socket-io-client': {
    broken: [['client/page/c.ts', 'socket.io-client']],
    kept: [['client/rtc/signaling.ts', 'socket.io-client']],
  },
  'server-packages': {
    broken: ['socket.io', 'pino', 'prom-client', 'rate-limiter-flexible', 'sirv'].map(
      (name, n): Import => [`client/cli/package${n}.ts`, name],
    ),
    kept: [['server/d.ts', 'socket.io']],
  },
  'one-file-knows-node-datachannel': {
    broken: [['client/cli/c.ts', 'node-datachannel']],
    kept: [['client/rtc/nodePeer.ts', 'node-datachannel']],
  },
  'node-only-at-the-edge': {
    broken: [
      ['shared/wire/c.ts', 'node:buffer'],
      ['client/rtc/d.ts', 'node:fs'],
      ['client/page/d.ts', 'node:path'],
    ],
    kept: [
      ['client/cli/d.ts', 'node:fs'],
      ['client/rtc/nodeFiles.ts', 'node:fs'],
      ['server/e.ts', 'node:http'],
    ],
  },
  'shared-needs-no-package': {
    broken: [['shared/collective/c.ts', 'nanoid']],
    kept: [['shared/signaling/b.ts', 'valibot']],
  },
  'valibot-where-input-is-parsed': { broken: [['shared/cost/d.ts', 'valibot']] },
  'no-dev-dependency-at-run-time': {
    broken: [['client/cli/e.ts', 'fast-check']],
    kept: [['client/cli/f.ts', 'vite']],
  },
  'no-cycles': {
    broken: [['client/rtc/cycle1.ts', 'client/rtc/cycle2.ts']],
    others: [['client/rtc/cycle2.ts', 'client/rtc/cycle1.ts']],
  },
  'no-cycles-between-folders': {
    broken: [
      ['shared/transport/b.ts', 'shared/membership/thing.ts'],
      ['shared/membership/b.ts', 'shared/transport/thing.ts'],
    ],
  },
  'everything-resolves': { broken: [['client/rtc/e.ts', 'no-such-package']] },
}

interface Violation {
  rule: { name: string }
  from: string
}

const house = mkdtempSync(join(tmpdir(), 'papilio-rules-'))
let violations: Violation[] = []

function write(file: string, imported: string): void {
  const isFile = /^(shared|server|client|test|docs)\//.test(imported)
  const path = isFile ? relative(dirname(file), imported) : imported
  const specifier = isFile && !path.startsWith('.') ? `./${path}` : path
  const existing = join(house, file)
  mkdirSync(dirname(existing), { recursive: true })
  writeFileSync(existing, `import * as imported from '${specifier}'\nexport const value = imported\n`)
  if (isFile && !allFiles.has(imported)) {
    mkdirSync(dirname(join(house, imported)), { recursive: true })
    writeFileSync(join(house, imported), 'export const thing = 1\n')
  }
}

const pairs = Object.values(cases).flatMap(({ broken, kept = [], others = [] }) => [
  ...broken,
  ...kept,
  ...others,
])
const allFiles = new Set(pairs.map(([file]) => file))

beforeAll(() => {
  for (const name of ['package.json', 'tsconfig.json', 'node_modules'])
    symlinkSync(join(root, name), join(house, name))
  for (const [file, imported] of pairs) write(file, imported)
  const cruise = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const args = [cruise, '--config', join(root, '.dependency-cruiser.cjs'), '--output-type', 'json']
  let report: string
  try {
    report = execFileSync(process.execPath, [...args, 'shared', 'server', 'client', 'test', 'docs'], {
      cwd: house,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
    })
  } catch (error) {
    // The exit status counts the violations; the report is on standard output all the same.
    report = (error as { stdout: string }).stdout
  }
  violations = (JSON.parse(report) as { summary: { violations: Violation[] } }).summary.violations
}, 60_000)

afterAll(() => rmSync(house, { recursive: true, force: true }))

describe('layer rules', () => {
  it('has a case for every rule of the configuration', () => {
    expect(Object.keys(cases).sort()).toEqual(config.forbidden.map((rule) => rule.name).sort())
  })

  for (const [rule, { broken, kept = [] }] of Object.entries(cases)) {
    for (const [file, imported] of broken)
      it(`${rule}: ${file} must not import ${imported}`, () => {
        const reported = violations
          .filter((violation) => violation.rule.name === rule)
          .map(({ from }) => from)
        const subject = rule === 'no-cycles-between-folders' ? dirname(file) : file
        expect(reported).toContain(subject)
      })
    for (const [file, imported] of kept)
      it(`${rule}: ${file} may import ${imported}`, () => {
        expect(violations.filter(({ from }) => from === file)).toEqual([])
      })
  }
})
