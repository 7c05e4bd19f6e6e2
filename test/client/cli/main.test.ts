import { expect, test } from 'vitest'
import { main } from '../../../client/cli/main.ts'
import { recordOutput } from './output.ts'

test.each([['--help'], ['-h'], ['help']])('%s lists the commands', async (flag) => {
  const out = recordOutput()
  expect(await main([flag], out)).toBe(0)
  expect(out.lines.join('\n')).toMatch(/^Usage: papilio <command>.*\n {2}serve +\S.*\n {2}plan +\S/s)
  expect(out.errors).toEqual([])
})

test('no command at all is a mistake of use, with the same help', async () => {
  const out = recordOutput()
  expect(await main([], out)).toBe(2)
  expect(out.errors.join('\n')).toContain('Usage: papilio <command>')
})

test.each(['fly', 'toString', '__proto__', ''])('the unknown command %j is named', async (name) => {
  const out = recordOutput()
  expect(await main([name], out)).toBe(2)
  expect(out.lines).toEqual([])
  expect(out.errors[0]).toContain(`There is no command ${name}.`)
})

test('the rest of the line goes to the command', async () => {
  const out = recordOutput()
  expect(await main(['serve', '--port', 'many'], out)).toBe(2)
  expect(out.errors[0]).toMatch(/^PORT \(--port\) must be .* not "many"\.$/)
})
