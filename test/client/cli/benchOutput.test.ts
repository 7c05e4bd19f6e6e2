/** What a benchmark leaves behind: exit status, files, and what the terminal sees. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBenchOutput } from '../../../client/cli/benchOutput.ts'
import { readBenchRequest } from '../../../client/cli/benchRequest.ts'
import {
  AbortedError,
  ArgumentError,
  EpochError,
  JoinError,
  PeerLostError,
} from '../../../shared/base/errors.ts'
import { eventsOf, rowOf, sampleOf, startOf } from '../../shared/bench/samples.ts'
import { recordOutput } from './output.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'papilio-bench-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function outputOf(...argv: string[]) {
  const out = recordOutput()
  const progress: string[] = []
  const output = createBenchOutput(readBenchRequest(argv)!, {
    out,
    argv,
    progress: (text) => progress.push(text),
    hasColor: true,
    version: '0.1.0',
    now: () => new Date('2026-12-01T05:00:00Z'),
  })
  return { out, progress, output }
}

function finish(argv: string[], rows = [rowOf()], error?: unknown) {
  const { output } = outputOf(...argv)
  for (const event of eventsOf(startOf(), rows)) output.tell(event)
  return output.finish(error)
}

describe('the exit status', () => {
  const peer = { rank: 1, peerId: 'b', name: 'Bo' }
  it.each([
    [0, undefined],
    [2, new ArgumentError('root', 'no such rank')],
    [3, new JoinError('GROUP_NOT_FORMED', 'late')],
    [3, new JoinError('SIGNAL_UNREACHABLE', 'no server')],
    [4, new JoinError('VERSION_MISMATCH', 'old')],
    [5, new JoinError('ROOM_FULL', 'full')],
    [6, new PeerLostError('Bo left', { peer, epoch: 2 })],
    [6, new EpochError(2, { epoch: 3, members: [peer] })],
    [130, new AbortedError('stopped')],
  ])('is %i after %s', (code, error) => {
    expect(finish([], [rowOf()], error)).toBe(code)
  })

  it('is 1 after wrong values, and for too little bandwidth', () => {
    expect(finish([], [rowOf({ inPlace: sampleOf([1], 1000, 3) })])).toBe(1)
    expect(finish(['--min-bw', '0.08'])).toBe(0)
    expect(finish(['--min-bw', '0.2'])).toBe(1)
  })
})

it('writes the result also when it was cut short, beside one that is there', () => {
  const path = join(folder, 'r.json')
  writeFileSync(path, 'mine')
  finish(['-J', path], [rowOf()], new AbortedError('The benchmark was stopped.'))
  expect(readFileSync(path, 'utf8')).toBe('mine')
  const result = JSON.parse(readFileSync(`${path}.0`, 'utf8'))
  expect(result).toMatchObject({ args: ['-J', path], errors: ['The benchmark was stopped.'] })
  expect(result.results).toHaveLength(1)
})

it('writes a trace for each row of the last size', () => {
  const path = join(folder, 't.json')
  const { output, out } = outputOf('--trace', path)
  const op = { algorithm: 'ring', settings: {}, steps: 1, ranks: [{ name: 'Ada', messages: [] }] }
  output.tell({ kind: 'trace', label: 'auto', bytes: 8, op })
  output.tell({ kind: 'trace', label: 'ring r=1', bytes: 8, op })
  expect(JSON.parse(readFileSync(path, 'utf8')).otherData).toMatchObject({ algorithm: 'ring', bytes: 8 })
  expect(existsSync(join(folder, 't.ring-r-1.json'))).toBe(true)
  expect(out.errors).toHaveLength(2)
})

it('shows progress over and over in one line, unless it is to be quiet', () => {
  const event = { kind: 'progress', bytes: 8, done: 2, total: 20, sizesDone: 0, sizes: 3 } as const
  const shown = outputOf()
  shown.output.tell(event)
  expect(shown.progress).toEqual(['\r\u001b[Ksize 1 of 3: 8 bytes, iteration 2 of 20'])
  const quiet = outputOf('--quiet')
  quiet.output.tell(event)
  expect(quiet.progress).toEqual([])
})

it('shows rows with wrong values in red where there are colours', () => {
  const rows = [rowOf(), rowOf({ outOfPlace: sampleOf([1], 1000, 3) })]
  const { out, output } = outputOf()
  for (const event of eventsOf(startOf(), rows)) output.tell(event)
  const data = out.lines.filter((line) => !line.startsWith('#'))
  expect(data.map((line) => line.startsWith('\u001b[31m'))).toEqual([false, true])
  const plain = outputOf('--no-color')
  for (const event of eventsOf(startOf(), rows)) plain.output.tell(event)
  expect(plain.out.lines.join('')).not.toContain('\u001b')
})
