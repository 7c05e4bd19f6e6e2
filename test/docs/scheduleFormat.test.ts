import { expect, test } from 'vitest'
import { buildSchedule } from '../../shared/schedule/build.ts'
import { chunkBounds } from '../../shared/schedule/partition.ts'
import { findAlgorithm } from '../../shared/schedule/registry.ts'
import { parseSchedule, serializeSchedule } from '../../shared/schedule/serialize.ts'
import { interpret } from '../support/interpret.ts'
import { blocksOf, readGuide } from './markdown.ts'

const guide = readGuide('docs/schedule-format.md')
const example: unknown = JSON.parse(blocksOf('', guide).find(({ language }) => language === 'json')!.code)
const schedule = parseSchedule(example)

test('the worked example is what the command prints', () => {
  const made = buildSchedule(findAlgorithm('butterfly', 'allreduce'), 3, { r: 1 })
  expect(example).toEqual(serializeSchedule(made))
})

test('its slots hold what the table says, after every step', () => {
  const rows = [...guide.matchAll(/^\| (?:the start|step \d) \| (.*) \|$/gm)].map((row) =>
    row[1]!.split(' | '),
  )
  expect(rows).toHaveLength(4)
  for (const [done, row] of rows.entries()) {
    const ranks = schedule.ranks.map((part) => ({
      ...part,
      steps: part.steps.slice(0, done),
      output: [...part.slots.keys()],
    }))
    const slots = interpret(
      { ...schedule, steps: done, ranks },
      (rank) => 'abc'.charAt(rank),
      (left, right) => left + right,
    )
    expect(slots.map((values) => values.join(' '))).toEqual(row)
  }
})

test('its numbers come out as the text says', () => {
  const vector = [1, 2, 3, 4]
  const bounds = chunkBounds(schedule, vector.length)
  const results = interpret(
    schedule,
    (_, chunk) => vector.slice(bounds[chunk], bounds[chunk + 1]),
    (left, right) => left.map((value, at) => value + right[at]!),
  )
  expect(results.map((chunks) => chunks.flat())).toEqual(Array(3).fill([3, 6, 9, 12]))
})
