import { expect, test } from 'vitest'
import { plan } from '../../../client/cli/plan.ts'
import { buildPart, buildSchedule } from '../../../shared/schedule/build.ts'
import { collectives } from '../../../shared/schedule/collectives.ts'
import { algorithms, defaultAlgorithm, findAlgorithm } from '../../../shared/schedule/registry.ts'
import { parseSchedule } from '../../../shared/schedule/serialize.ts'
import { recordOutput } from './output.ts'

/** Runs the command line and returns what it wrote. */
async function run(line: string) {
  const output = recordOutput()
  const status = await plan(line.split(' ').filter(Boolean), output)
  return { status, out: output.lines.join('\n'), err: output.errors.join('\n') }
}

test('JSON: the schedule and its counts', async () => {
  const { status, out, err } = await run('--size 7 --algorithm butterfly --r 1 --json')
  expect({ status, err }).toEqual({ status: 0, err: '' })
  const json = JSON.parse(out)
  expect(parseSchedule(json)).toEqual(buildSchedule(findAlgorithm('butterfly'), 7, { r: 1 }))
  expect(json.counts).toEqual({
    steps: 5,
    chunksSentPerRank: 14,
    chunkCombinesPerRank: 10,
    peersPerRank: 6,
  })
})

test.each([
  ['--size 8 --r 2 --group xor', 'butterfly', 8, { r: 2, group: 'xor' }],
  ['--size 6 --group 2x3', 'butterfly', 6, { r: 0, group: '2x3' }],
  ['--size 9 --algorithm ports --ports 2 --r 1', 'ports', 9, { ports: 2, r: 1 }],
  ['--size 9 --algorithm window --window 3', 'window', 9, { window: 3 }],
  ['--size=9 --algorithm=ring', 'ring', 9, {}],
] as const)('%s', async (line, name, size, settings) => {
  const json = JSON.parse((await run(`${line} --json`)).out)
  expect(parseSchedule(json)).toEqual(buildSchedule(findAlgorithm(name, 'allreduce'), size, settings))
})

test('another collective with a root', async () => {
  const json = JSON.parse(
    (await run('--size 5 --collective broadcast --algorithm binomial --root 3 --json')).out,
  )
  expect(json).toMatchObject({ collective: 'broadcast', root: 3 })
})

test.each(collectives)('%s without an algorithm takes the first of its list, and proves it', async (name) => {
  const { status, out } = await run(`--size 5 --collective ${name} --verify`)
  expect(status).toBe(0)
  expect(out).toContain(`${defaultAlgorithm(name).title}, ${name}, 5 ranks`)
  expect(out).toContain(
    name === 'barrier' ? 'Proved: no rank goes on before every rank has come.' : 'Proved: every contribution',
  )
})

test('text: what it is, counts and the timetable', async () => {
  const { status, out } = await run('--size 3 --r 1')
  expect(status).toBe(0)
  expect(out).toContain('Generalized butterfly, allreduce, 3 ranks, r 1, group cyclic')
  expect(out).toContain('3 steps; the busiest rank sends 5 chunks, combines 4 and has 2 peers.')
  expect(out).toContain('rank 0  >2:0-1 +  >2:1-2 +  >1:2')
})

test('the proof says what it found', async () => {
  expect((await run('--size 7 --r 1 --verify')).out).toContain(
    'Proved: every contribution exactly once; ranks combine in different orders; operands not in rank order',
  )
  expect((await run('--size 7 --algorithm two-shot --verify')).out).toContain(
    'Proved: every contribution exactly once; same bits on all ranks; operands in rank order',
  )
  const json = JSON.parse((await run('--size 7 --verify --json')).out)
  expect(json.verification).toEqual({ identical: true, ordered: false, rankFold: false, once: true })
})

test('one rank of very many', async () => {
  const { status, out } = await run('--size 10000 --rank 17 --json')
  expect(status).toBe(0)
  const { part, size, rankCounts } = JSON.parse(out)
  expect(size).toBe(10_000)
  expect(rankCounts).toMatchObject({ rank: 17, chunksSent: 2 * 9999 })
  expect(part).toEqual(buildPart(findAlgorithm('butterfly'), 10_000, {}, 17))
  expect((await run('--size 6 --rank 2')).out).toContain(
    'Rank 2: 6 messages, 10 chunks sent, 5 combined, 3 peers.',
  )
})

test('the list has every algorithm, as text and as JSON', async () => {
  const { out } = await run('--list')
  for (const { name } of algorithms) expect(out).toContain(`  ${name}`)
  const json = JSON.parse((await run('--list --json')).out)
  expect(json.map(({ collective, name }: Record<string, string>) => `${collective} ${name}`)).toEqual(
    algorithms.map(({ collective, name }) => `${collective} ${name}`),
  )
  expect(json[0]).not.toHaveProperty('variants')
})

test('the list for a size has the values and variants for it', async () => {
  const [butterfly] = JSON.parse((await run('--list --json --size 4')).out)
  expect(butterfly.parameters[0]).toMatchObject({ name: 'r', values: [0, 1, 2] })
  expect(butterfly.variants).toContainEqual({
    settings: { r: 2, group: 'xor' },
    steps: 2,
    chunks: 4,
    identical: true,
    ordered: true,
  })
})

test('help names every switch and setting', async () => {
  const { status, out } = await run('--help')
  expect(status).toBe(0)
  for (const name of ['--size', '--rank', '--verify', '--json', '--list', '--group', '--ports', '--window'])
    expect(out).toContain(name)
})

test.each([
  ['', 'Say for how many ranks: --size 7'],
  ['--size seven', '--size takes a whole number, not "seven"'],
  ['--size 0', 'size must be a whole number of ranks, at least 1, not 0'],
  ['--size 7 --speed 3', 'There is no flag --speed'],
  ['--size 7 extra', '"extra" belongs to no flag'],
  ['--size', '--size needs a value'],
  ['--size 7 --json=3', '--json takes no value'],
  ['--size 7 --rank -4', '--rank takes a whole number, not "-4"'],
  ['--size 7 --rank 7', 'rank must be 0 .. 6, not 7'],
  ['--size 7 --algorithm rign', 'There is no allreduce algorithm "rign". Known: butterfly'],
  ['--size 7 --collective sum', '--collective is one of allreduce'],
  ['--size 7 --r 4', 'r can be 0 .. 3, not 4'],
  ['--size 7 --r one', '--r takes a whole number, not "one"'],
  ['--size 7 --window 2', 'butterfly has no setting "window"'],
  ['--size 7 --group xor', 'the XOR group needs 2^k ranks, not 7'],
  ['--size 2000', '--rank N makes the part of one rank'],
  ['--size 800 --algorithm ring', '--rank N makes the part of one rank'],
])('wrong use is answered in a sentence, with status 2: %s', async (line, sentence) => {
  const { status, out, err } = await run(line)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(sentence)
})
