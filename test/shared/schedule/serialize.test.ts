import { describe, expect, test } from 'vitest'
import { ScheduleError } from '../../../shared/base/errors.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { algorithms, findAlgorithm } from '../../../shared/schedule/registry.ts'
import { parseSchedule, serializeSchedule } from '../../../shared/schedule/serialize.ts'

const good = () => serializeSchedule(buildSchedule(findAlgorithm('butterfly'), 3, { r: 1 }))

test('every algorithm survives the way through JSON', () => {
  for (const algorithm of algorithms) {
    const schedule = buildSchedule(algorithm, 5)
    expect(parseSchedule(JSON.parse(JSON.stringify(serializeSchedule(schedule)))), algorithm.name).toEqual(
      schedule,
    )
  }
})

test('fields that are not of the form are left out', () => {
  expect(parseSchedule({ ...good(), counts: { steps: 3 } })).not.toHaveProperty('counts')
})

/** Changes one value of the good schedule, found by its path. */
function changed(path: readonly (string | number)[], value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(good()))
  let at = copy
  for (const key of path.slice(0, -1)) at = at[key]
  at[path.at(-1)!] = value
  return copy
}

describe('what is refused, and where', () => {
  const step = ['ranks', 1, 'steps', 0] as const
  test.each([
    [[], null, 'the schedule must be an object', -1, -1],
    [['format'], 'other', 'format must be "papilio-schedule"', -1, -1],
    [['version'], 2, 'version must be 1, not 2', -1, -1],
    [['size'], 0, 'size must be a whole number 1 .. 65536', -1, -1],
    [['size'], 2.5, 'size must be a whole number 1 .. 65536', -1, -1],
    [['size'], 4, 'ranks must have 4 entries, not 3', -1, -1],
    [['collective'], 'sum', 'collective must be one of allreduce', -1, -1],
    [['algorithm'], 'x'.repeat(101), 'algorithm must be a string', -1, -1],
    [['settings', 'r'], null, 'setting r must be a number or a string', -1, -1],
    [['root'], 3, 'root must be a whole number 0 .. 2', -1, -1],
    [['cuts'], [0, 1], 'cuts must have 4 entries, not 2', -1, -1],
    [['cuts'], [0, 0.5, 0.4, 1], 'cuts must ascend', -1, -1],
    [['cuts'], [0.1, 0.2, 0.4, 1], 'cuts must begin with 0', -1, -1],
    [['cuts'], [0, 0.2, 0.4, 0.9], 'cuts must begin with 0 and end with 1', -1, -1],
    [['ranks', 1], [], 'a part must be an object', 1, -1],
    [['ranks', 1, 'rank'], 2, 'rank must be a whole number 1 .. 1', 1, -1],
    [['ranks', 1, 'slots', 0], 3, 'a chunk in slots must be a whole number 0 .. 2', 1, -1],
    [['ranks', 1, 'input'], [99], 'input must be a whole number', 1, -1],
    [['ranks', 1, 'output'], undefined, 'output must be a list', 1, 3],
    [['ranks', 1, 'steps'], [], 'the part must have 3 steps, not 0', 1, -1],
    [[...step, 'sends', 0, 'to'], -1, 'to must be a whole number 0 .. 2', 1, 0],
    [[...step, 'sends', 0, 'slots'], 'all', 'slots of a send must be a list', 1, 0],
    [[...step, 'receives', 0, 'from'], '0', 'from must be a whole number', 1, 0],
    [[...step, 'receives', 0, 'how'], 'add', 'how must be one of store, append, prepend', 1, 0],
    [[...step, 'locals'], [{ from: 0, slot: 77, how: 'store' }], 'slot of a local must be', 1, 0],
  ] as const)('%j = %j', (path, value, message, rank, at) => {
    const json = path.length === 0 ? value : changed(path, value)
    try {
      parseSchedule(json)
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error
      expect(error.message).toContain(message)
      expect([error.rank, error.step]).toEqual([rank, at])
      return
    }
    expect.fail('was accepted')
  })
})
