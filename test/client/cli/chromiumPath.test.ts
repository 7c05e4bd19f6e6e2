/** The tests find the Chromium of the machine, or say in one sentence what to do. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { findChromium, requireChromium } from '../../../client/cli/chromiumPath.ts'

const folder = mkdtempSync(join(tmpdir(), 'papilio-path-'))
const install = (name: string, mode: number): string => {
  const path = join(folder, name)
  writeFileSync(path, '#!/bin/sh\n')
  chmodSync(path, mode)
  return path
}
const chrome = install('google-chrome', 0o755)
const text = install('notes.txt', 0o644)
const PATH = ['/nowhere', folder].join(delimiter)

afterAll(() => rmSync(folder, { recursive: true }))

it('takes the browser that is on PATH', () => expect(findChromium({ PATH })).toBe(chrome))

it('prefers Chromium to Chrome', () => {
  const chromium = install('chromium', 0o755)
  expect(findChromium({ PATH })).toBe(chromium)
})

it('prefers PAPILIO_CHROMIUM to all', () =>
  expect(findChromium({ PATH, PAPILIO_CHROMIUM: chrome })).toBe(chrome))

it('does not fall back silently when PAPILIO_CHROMIUM is wrong', () => {
  for (const wrong of [text, join(folder, 'missing')])
    expect(() => requireChromium({ PATH, PAPILIO_CHROMIUM: wrong })).toThrow(
      `PAPILIO_CHROMIUM names ${wrong}, which is not an executable file.`,
    )
})
