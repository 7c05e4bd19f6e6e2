import { expect, test } from 'vitest'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { findAlgorithm } from '../../../shared/schedule/registry.ts'
import { formatChunks, formatPart, formatTimetable } from '../../../shared/schedule/timetable.ts'

const schedule = buildSchedule(findAlgorithm('butterfly'), 3, { r: 1 })

test('chunks are listed as ranges', () => {
  expect(formatChunks([])).toBe('')
  expect(formatChunks([4])).toBe('4')
  expect(formatChunks([7, 1, 0, 2, 5, 6])).toBe('0-2,5-7')
})

test('one row per rank, one column per step', () => {
  expect(formatTimetable(schedule, schedule.ranks).split('\n')).toEqual([
    '        step 0    step 1    step 2',
    'rank 0  >2:0-1 +  >2:1-2 +  >1:2',
    'rank 1  >0:1-2 +  >0:0,2 +  >2:0',
    'rank 2  >1:0,2 +  >1:0-1 +  >0:1',
  ])
})

test('a step without messages is a dot, several messages stand side by side', () => {
  const star = buildSchedule(findAlgorithm('star'), 3)
  expect(formatTimetable(star, star.ranks).split('\n')).toEqual([
    '        step 0  step 1',
    'rank 0  +       >1:0 >2:0',
    'rank 1  >0:0    .',
    'rank 2  >0:0    .',
  ])
})

test('one rank with its slots', () => {
  expect(formatPart(schedule.ranks[0]!).split('\n')).toEqual([
    'step 0',
    '  send to 2: chunks 0-1 (slots 0 2)',
    '  receive from 1, append: chunks 1-2 (slots 2 3)',
    'step 1',
    '  send to 2: chunks 1-2 (slots 2 3)',
    '  receive from 1, append: chunks 0,2 (slots 1 0)',
    'step 2',
    '  send to 1: chunk 2 (slot 1)',
    '  receive from 2, store: chunk 1 (slot 2)',
  ])
})
