import { describe, expect, it } from 'vitest'
import type { Ended } from './messages.ts'
import { violationsOf, type Witness } from './verdict.ts'

const right: Ended = { contributors: [0, 1, 3], bits: 0b1011, epoch: 4, faults: [] }
const witnesses = (results: Readonly<Record<number, Ended | undefined>>): Witness[] =>
  [0, 1, 3].map((index) => {
    const result = index in results ? results[index] : right
    return { index, outcomes: result ? [{ op: 0, at: 0, result }] : [] }
  })

describe('the verdict on what real peers have said', () => {
  it('has nothing against survivors who agree on a sum of themselves, or also of somebody who was lost later', () => {
    expect(violationsOf(witnesses({}), 1)).toEqual([])
    const more: Ended = { ...right, contributors: [0, 1, 2, 3], bits: 0b1111 }
    expect(violationsOf(witnesses({ 0: more, 1: more, 3: more }), 1)).toEqual([])
  })

  it.each<[string, Ended | undefined, RegExp]>([
    ['an op that never ended', undefined, /did not end on peer 1/],
    ['an error', { error: 'TIMEOUT: late' }, /failed: TIMEOUT/],
    ['data that are in the sum twice', { ...right, bits: 0b1101 }, /the sum has 13/],
    ['data that are missing from the sum', { ...right, bits: 0b0011 }, /the sum has 3/],
    [
      'a contributor who is listed twice',
      { ...right, contributors: [0, 1, 1, 3], bits: 0b1101 },
      /listed twice/,
    ],
    ['another answer', { ...right, contributors: [0, 1, 2, 3], bits: 0b1111 }, /survivors differ/],
    ['a survivor who is left out', { ...right, contributors: [0, 1], bits: 0b0011 }, /without survivor 3/],
    ['what a peer saw itself', { ...right, faults: ['its input was touched'] }, /input was touched/],
  ])('sees %s', (_, result, expected) => {
    expect(violationsOf(witnesses({ 1: result }), 1).join('\n')).toMatch(expected)
  })
})
