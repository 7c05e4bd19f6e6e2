/** The guides name every setting, metric, event and refusal that there is. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Setting, settings } from '../../server/settings.ts'
import { startBed } from './client.ts'

const guide = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8')

test('deploy.md has the settings as the command prints them', () => {
  const rows = guide('deploy.md').split('\n')
  for (const { env, flag, help } of Object.values<Setting>(settings)) {
    expect(rows).toContain(`| \`${env}\` | ${flag === undefined ? '' : `\`--${flag}\``} | ${help} |`)
  }
})

test('deploy.md has every metric of our own', async () => {
  const bed = await startBed()
  const text = await bed.metrics()
  await bed.close()
  const names = [...text.matchAll(/^# HELP (papilio_\w+)/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(10)
  for (const name of names) expect(guide('deploy.md')).toContain(`\`${name}`)
})

test('protocol.md has every event and every refusal', () => {
  const source = (path: string) => readFileSync(join(import.meta.dirname, '../../shared', path), 'utf8')
  const text = guide('protocol.md')
  const events = [...source('signaling/events.ts').matchAll(/^ {2}(\w+)\(.*\): void$/gm)].map(
    ([, name]) => name,
  )
  const block = /type RefusalCode =((?:\s+\| '\w+')+)/.exec(source('base/errors.ts'))?.[1] ?? ''
  const codes = [...block.matchAll(/'(\w+)'/g)].map(([, code]) => code)
  expect([events.length, codes.length]).toEqual([14, 7])
  for (const name of [...events, ...codes]) expect(text).toMatch(new RegExp(`^\\| \`${name}\``, 'm'))
})
