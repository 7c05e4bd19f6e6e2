/** What the linter cannot see in shared/: randomness comes from a seeded Prng, so that every run can be repeated. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const shared = join(import.meta.dirname, '../../shared')

it('shared/ takes its randomness from Prng alone', () => {
  const files = readdirSync(shared, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  expect(files).toContain(join('base', 'prng.ts'))
  const offenders = files.filter((file) => readFileSync(join(shared, file), 'utf8').includes('Math.random'))
  expect(offenders).toEqual([])
})
