import { describe, expect, it } from 'vitest'
import { bytesText, measuredText, timeText, whyChosen } from '../../../shared/cost/explain.ts'
import type { Prediction } from '../../../shared/cost/types.ts'

const prediction = (more: Partial<Prediction>, alpha: number, rest: number): Prediction => ({
  algorithm: 'butterfly',
  settings: { r: 0 },
  seconds: alpha + rest,
  parts: { alpha, beta: rest, gamma: 0 },
  steps: 6,
  bytesSent: 728,
  identical: true,
  ...more,
})

describe('why', () => {
  it('names the step and the bytes that were traded', () => {
    const r0 = prediction({}, 1.8e-3, 1e-5)
    const r1 = prediction({ settings: { r: 1 }, steps: 5, bytesSent: 850 }, 1.5e-3, 2e-5)
    expect(whyChosen(r1, r0, 425)).toBe(
      "r = 1: one step fewer for 17 % more bytes than r = 0; at 425 B the step's 0.3 ms outweigh 122 B more.",
    )
    const long0 = prediction({ bytesSent: 7e6 }, 1.8e-3, 0.1)
    const long1 = prediction({ settings: { r: 1 }, steps: 5, bytesSent: 8e6 }, 1.5e-3, 0.12)
    expect(whyChosen(long0, long1, 2 ** 22)).toBe(
      "r = 0: 13 % fewer bytes for one step more than r = 1; at 4 MiB the bytes' 20 ms outweigh the step's 0.3 ms.",
    )
  })

  it('says when nothing was traded', () => {
    const slow = prediction({ algorithm: 'ring', settings: {}, steps: 12 }, 3.6e-3, 1e-5)
    const fast = prediction({}, 1.8e-3, 1e-5)
    expect(whyChosen(fast, slow, 425)).toBe(
      'butterfly (r = 0): 6 steps fewer than ring, 1.8 ms against 3.6 ms.',
    )
    expect(whyChosen(fast, undefined, 425)).toBe(
      'butterfly (r = 0): the only candidate that this call admits.',
    )
    expect(whyChosen(fast, prediction({ settings: { r: 0, group: 'xor' } }, 1.8e-3, 1e-5), 425)).toMatch(
      /predicted to take as long as/,
    )
  })

  it('makes no reason of a difference that its digits do not show', () => {
    const ring = prediction({ algorithm: 'ring', settings: {}, steps: 12, bytesSent: 1092 }, 3.4e-2, 1e-5)
    expect(whyChosen(prediction({}, 3.39e-2, 1e-5), ring, 425)).toBe(
      'butterfly (r = 0): as good as equal to ring, 34 ms for both, with 6 steps fewer and 33 % fewer bytes.',
    )
    expect(
      whyChosen(prediction({}, 3.39e-2, 1e-5), prediction({ settings: { r: 1 } }, 3.4e-2, 1e-5), 425),
    ).toBe('r = 0: as good as equal to r = 1, 34 ms for both.')
  })

  it('owns up when r is not the fastest for this vector alone', () => {
    const r0 = prediction({}, 1.8e-3, 1e-5)
    const r3 = prediction({ settings: { r: 3 }, steps: 3 }, 1e-3, 1e-5)
    expect(whyChosen(r0, r3, 425)).toBe(
      'r = 0: for this vector alone r = 3 is predicted to be 0.8 ms faster, but r never rises with the vector.',
    )
  })
})

describe('measured against predicted', () => {
  it('says by how much', () => {
    expect(measuredText(0.038, 0.041)).toBe('Predicted 38 ms. Measured 41 ms, 8 % slower.')
    expect(measuredText(0.038, 0.019)).toBe('Predicted 38 ms. Measured 19 ms, 50 % faster.')
    expect(measuredText(0.038, 0.038)).toBe('Predicted 38 ms. Measured 38 ms, as predicted.')
    expect(measuredText(0, 0.001)).toBe('Predicted 0 µs. Measured 1 ms.')
  })
})

describe('numbers', () => {
  it('have two digits that mean something', () => {
    expect([3e-7, 2.34e-5, 1.25e-3, 0.0384, 1.234].map(timeText)).toEqual([
      '0.3 µs',
      '0.023 ms',
      '1.3 ms',
      '38 ms',
      '1.2 s',
    ])
    expect([8, 425, 65536, 1.5 * 2 ** 20, 2 ** 26].map(bytesText)).toEqual([
      '8 B',
      '425 B',
      '64 KiB',
      '1.5 MiB',
      '64 MiB',
    ])
  })
})
