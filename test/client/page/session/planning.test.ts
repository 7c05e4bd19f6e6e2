import { describe, expect, it } from 'vitest'
import { choiceOf, modelFor, planSize } from '../../../../client/page/session/choices.ts'
import { initialState } from '../../../../client/page/session/labState.ts'
import { algorithmOptions, rRows, scheduleOf, stepSeconds } from '../../../../client/page/session/planning.ts'
import { settingsKey } from '../../../../client/page/session/results.ts'
import {
  defaultSettings,
  isAlgorithmKey,
  writeAlgorithmKey,
} from '../../../../client/page/session/settings.ts'
import { guessModel } from '../../../../shared/cost/fit.ts'

const model = modelFor(initialState)
const rows = (changes: Partial<typeof defaultSettings>, measured = new Map()) =>
  rRows({ ...defaultSettings, ...changes }, 7, model, measured)

describe('rRows', () => {
  it('has the exact counts of the paper for P = 7', () => {
    const counts = rows({}).map((row) => [row.r, row.prediction.steps, row.chunksSent, row.chunks])
    expect(counts).toEqual([
      [0, 6, 12, 7],
      [1, 5, 14, 7],
      [2, 4, 18, 7],
      [3, 3, 21, 7],
    ])
  })

  it('marks one row as best predicted, and one as best measured once there is something to compare', () => {
    const measured = new Map(
      [0.05, 0.03, 0.04].map((median, r) => {
        const settings = { r, group: 'cyclic' }
        const times = { median, p95: median, seconds: [median] }
        return [settingsKey('butterfly', settings), { algorithm: 'butterfly', settings, ...times }]
      }),
    )
    const marked = rows({}, measured)
    expect(marked.filter((row) => row.isBestPredicted)).toHaveLength(1)
    expect(marked.filter((row) => row.isBestMeasured).map((row) => row.r)).toEqual([1])
    expect(marked[1]!.error).toBeCloseTo(0.03 / marked[1]!.prediction.seconds - 1)
    expect(marked[3]!.measured).toBeUndefined()
    expect(rows({}).some((row) => row.isBestMeasured)).toBe(false)
    const alone = rows({}, new Map([...measured].slice(0, 1)))
    expect(alone.filter((row) => row.measured)).toHaveLength(1)
    expect(alone.some((row) => row.isBestMeasured)).toBe(false)
  })

  it('never lets auto remove more steps from a larger vector', () => {
    const chosen = [64, 425, 4096, 65536, 1 << 20, 16 << 20].map(
      (bytes) => rows({ bytes }).find((row) => row.isChosen)!.r,
    )
    expect(chosen).toEqual([...chosen].sort((a, b) => b - a))
  })

  it('lists the butterfly when the algorithm has no r, and all r whatever the consistency', () => {
    expect(rows({ algorithm: 'ring', consistency: 'identical' }).map((row) => row.r)).toEqual([0, 1, 2, 3])
    expect(rows({}).map((row) => row.identical)).toEqual([true, false, false, false])
  })
})

describe('stepSeconds', () => {
  it('shares the predicted time out to the steps, more to those that send more', () => {
    const schedule = scheduleOf('butterfly', { r: 0, group: 'cyclic' }, 7)
    const model = guessModel(7)
    const steps = stepSeconds(schedule, 1 << 20, model, 0.4)
    expect(steps).toHaveLength(6)
    expect(steps.reduce((sum, step) => sum + step, 0)).toBeCloseTo(0.4)
    // 3, 2, 1 chunks of the reduction, and the same backwards.
    expect(steps[0]).toBeGreaterThan(steps[1]!)
    expect(steps[1]).toBeGreaterThan(steps[2]!)
    expect(steps[5]).toBeCloseTo(steps[0]!)
  })

  it('is even where nothing is known, and nothing where nothing is sent', () => {
    const schedule = scheduleOf('ring', {}, 3)
    const blind = { ...guessModel(3), links: [] }
    expect(stepSeconds(schedule, 1024, blind, 0.4)).toEqual([0.1, 0.1, 0.1, 0.1])
    expect(stepSeconds(scheduleOf('ring', {}, 1), 1024, guessModel(1), 0)).toEqual([])
  })
})

describe('algorithmOptions', () => {
  it.each([2, 7, 8])('can all be asked for or say why not, P = %d', (size) => {
    const options = algorithmOptions(size)
    expect(new Set(options.map(({ key }) => key)).size).toBe(options.length)
    for (const { key, refusal } of options) {
      expect(isAlgorithmKey(key), key).toBe(true)
      const choice = choiceOf({ ...defaultSettings, algorithm: key }, size, modelFor(initialState, size))
      if (refusal === undefined && !/idempotent/.test(String(choice)))
        expect(typeof choice === 'string' ? choice : 'ok', key).toMatch(/^ok$|more than once/)
    }
    expect(options.map(({ key }) => key)).toContain('ring')
  })

  it('offers the XOR group for powers of two', () => {
    const key = writeAlgorithmKey('butterfly', { group: 'xor' })
    expect(algorithmOptions(8).map((option) => option.key)).toContain(key)
    expect(algorithmOptions(7).map((option) => option.key)).not.toContain(key)
  })
})

it('shows seven peers while alone', () => {
  expect(planSize(initialState)).toBe(7)
  expect(scheduleOf('butterfly', { r: 1 }, 7)).toMatchObject({ size: 7, steps: 5 })
  expect(scheduleOf('butterfly', { r: 1 }, 7)).toBe(scheduleOf('butterfly', { r: 1 }, 7))
})
