import { describe, expect, it } from 'vitest'
import {
  advance,
  faster,
  nextStop,
  previousStop,
  slower,
  stopsBehind,
} from '../../../../../client/page/stage/playback/clock.ts'

const stops = [0, 1, 2, 3]

describe('playback', () => {
  it('steps from stop to stop and stays inside', () => {
    expect([0, 0.5, 1, 3].map((at) => nextStop(at, stops))).toEqual([1, 1, 2, 3])
    expect([0, 0.5, 1, 3].map((at) => previousStop(at, stops))).toEqual([0, 0, 0, 2])
    expect([0, 0.99, 1, 2.5, 3].map((at) => stopsBehind(at, stops))).toEqual([0, 0, 1, 2, 3])
  })

  it('plays on by speed and ends at the end', () => {
    expect(advance(1, 0.1, 2, stops)).toBeCloseTo(1.2)
    expect(advance(2.95, 1, 2, stops)).toBe(3)
  })

  it('has a fastest and a slowest speed', () => {
    expect([faster(1), faster(8), slower(1), slower(0.25)]).toEqual([2, 8, 0.5, 0.25])
  })
})
