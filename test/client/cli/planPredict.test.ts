import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readNetwork } from '../../../client/cli/network.ts'
import { plan } from '../../../client/cli/plan.ts'
import { chooseSchedule } from '../../../shared/cost/choose.ts'
import { internet, loopback, modelOf } from '../../../shared/cost/scenarios.ts'
import { collectives } from '../../../shared/schedule/collectives.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'
import { recordOutput } from './output.ts'

const folder = mkdtempSync(join(tmpdir(), 'papilio-predict-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

async function run(line: string) {
  const output = recordOutput()
  const status = await plan(['--predict', ...line.split(' ').filter(Boolean)], output)
  return { status, out: output.lines.join('\n'), err: output.errors.join('\n') }
}

const call = {
  size: 7,
  bytes: 425,
  rounds: true,
  commutative: true,
  idempotent: false,
  consistency: 'identical',
} as const

test('JSON: every candidate, the chosen one and why', async () => {
  const { status, out } = await run('--size 7 --bytes 425 --network loopback --json')
  expect(status).toBe(0)
  const { chosen, candidates, refused, why } = chooseSchedule(
    { ...call, collective: 'allreduce' },
    modelOf(loopback(7)),
  )
  expect(JSON.parse(out)).toEqual({
    size: 7,
    bytes: 425,
    consistency: 'identical',
    chosen,
    candidates,
    refused,
    why,
  })
})

test('text: a table whose first line is the fastest', async () => {
  const { out } = await run('--size 5 --bytes 4096 --network classroom')
  const [why, , head, first] = out.split('\n')
  expect(why).toMatch(/^5 ranks, 4 KiB: .*\.$/)
  expect(head).toMatch(/ms +latency +bytes +combine +steps +sent by a rank +bits +candidate/)
  expect(first).toMatch(/<- chosen$/)
  expect(out).toContain('Not in question:')
})

test('a named algorithm with r left open', async () => {
  const { out } = await run(
    '--size 7 --bytes 425 --network loopback --algorithm butterfly --r auto --consistency fast --json',
  )
  expect(
    JSON.parse(out)
      .candidates.map((c: { settings: { r: number } }) => c.settings.r)
      .sort(),
  ).toEqual([0, 1, 2, 3])
})

test('any rank may be the root, and everything else that a call may fix', async () => {
  const { out } = await run('--size 6 --bytes 5000 --network internet --collective reduce --root 4 --json')
  const { candidates } = JSON.parse(out)
  expect(candidates.length).toBeGreaterThan(3)
  for (const { settings } of candidates) expect(settings.root).toBe(4)
  const named = await run('--size 6 --bytes 5000 --network internet --algorithm window --window auto --json')
  expect(JSON.parse(named.out).candidates).toHaveLength(3)
})

test('every collective is priced, with no algorithm named', async () => {
  for (const collective of collectives) {
    const { status, out } = await run(
      `--size 5 --bytes 5000 --network loopback --collective ${collective} --json`,
    )
    expect(status, collective).toBe(0)
    const { chosen, candidates } = JSON.parse(out)
    const ofCollective = algorithms.filter((one) => one.collective === collective).map(({ name }) => name)
    expect(ofCollective, collective).toContain(chosen.algorithm)
    expect(candidates.length, collective).toBeGreaterThan(0)
  }
})

test.each([
  ['', true],
  ['--consistency identical', true],
  ['--consistency fast', false],
])('the same bits on all ranks, as in the library, unless fast is asked for: "%s"', async (flag, isSame) => {
  const { out } = await run(`--size 7 --bytes 425 --network loopback ${flag} --json`)
  expect(JSON.parse(out).candidates.every((c: { identical: boolean }) => c.identical)).toBe(isSame)
})

describe('a network file', () => {
  test('may be a model as a group has it', async () => {
    const model = modelOf(internet(4))
    const path = file('model.json', model)
    const { status, out } = await run(`--bytes 100000 --network ${path} --json`)
    expect(status).toBe(0)
    const expected = chooseSchedule({ ...call, size: 4, bytes: 100_000, collective: 'allreduce' }, model)
    expect(JSON.parse(out).chosen).toEqual(expected.chosen)
  })

  test('may be one line for all links, and says the rest itself', () => {
    const model = readNetwork('{"size": 3, "link": {"alpha": 0.001, "beta": 1e-7}}')
    expect(model.links[0]![1]!.alpha).toBeCloseTo(1e-3, 9)
    expect(model.links[1]![1]).toBeUndefined()
    expect(model.hostBeta).toBe(1e-7)
  })

  test.each([
    ['not JSON', '{', /not JSON/],
    ['no size', '{"link": {"alpha": 1, "beta": 0}}', /at size/],
    ['no links', '{"size": 2}', /neither link nor links/],
    ['a negative time', '{"size": 2, "link": {"alpha": -1, "beta": 0}}', /network file is not one at link/],
    ['rows that are missing', '{"size": 2, "links": [[null, null]]}', /one row per rank/],
    [
      'points in disorder',
      '{"size": 2, "link": {"points": [{"bytes": 9, "seconds": 1}, {"bytes": 8, "seconds": 1}]}}',
      /link/,
    ],
    ['too many ranks', '{"size": 5000, "link": {"alpha": 1, "beta": 0}}', /at size/],
  ])('%s is refused with the reason', async (_, content, message) => {
    const { status, err } = await run(`--bytes 8 --network ${file('bad.json', content)}`)
    expect(status).toBe(2)
    expect(err).toMatch(message)
  })
})

test.each([
  ['--size 7 --network loopback', /--bytes/],
  ['--size 7 --bytes 8', /--network FILE, or one of guess, loopback/],
  ['--bytes 8 --network loopback', /--size 7/],
  ['--size 7 --bytes 8 --network /nowhere/else.json', /Cannot read the network/],
  ['--size 7 --bytes 8 --network loopback --consistency loose', /identical or fast/],
  ['--size 7 --bytes 8 --network loopback --algorithm nonsense', /no allreduce algorithm "nonsense"/],
  ['--size 7 --bytes 8 --network loopback --r some', /--r takes/],
])('%s says what is missing', async (line, message) => {
  const { status, err } = await run(line)
  expect(status).toBe(2)
  expect(err).toMatch(message)
})
