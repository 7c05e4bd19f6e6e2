/** Headless peers in the room of a page: the command as a person types it, beside a tab of a real Chromium. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openHouse } from '../support/house.ts'

const house = openHouse()
const root = join(import.meta.dirname, '../..')
let child: ChildProcess | undefined

afterEach(() => {
  if (child?.exitCode === null) child.kill('SIGKILL')
})

it('two peers of a terminal, each in a process of its own, join the room of a page, run with it, agree, and leave on Ctrl-C', async () => {
  const tab = await house.tabs.open()
  await tab.waitForGroup(1)
  const { pathname } = await tab.joinUrl()
  const link = house.server.url + pathname
  const argv = [
    'client/cli/main.ts',
    'peer',
    '--room',
    link,
    '-n',
    '2',
    '--processes',
    '2',
    '--name',
    'Rack',
    '--json',
  ]
  child = spawn(process.execPath, ['--import', 'tsx', ...argv], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout?.on('data', (data: Buffer) => {
    said += data.toString()
  })
  const ended = new Promise<number | null>((resolve) => child?.once('exit', resolve))

  await tab.waitForGroup(3)
  const roster = await tab.roster()
  expect(roster.map(({ state }) => state)).toEqual(['ready', 'ready', 'ready'])
  expect(roster.filter(({ name }) => name.startsWith('Rack'))).toHaveLength(2)
  await tab.run()
  expect(await tab.words('verify')).toContain('3 of 3')
  await expect.poll(() => said.match(/"event":"run"/g)?.length).toBe(2)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  await tab.waitForGroup(1)

  const events = said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const runs = events.filter(({ event }) => event === 'run')
  expect(runs).toHaveLength(2)
  for (const { phase, outcomes } of runs) {
    expect(phase).toBe('done')
    expect(outcomes[0]).toMatchObject({ told: 3, correct: 3, wrong: 0, identical: true })
  }
  expect(new Set(runs.map(({ outcomes }) => outcomes[0].hash)).size).toBe(1)
  expect(events.filter(({ event }) => event === 'left')).toHaveLength(2)
})
