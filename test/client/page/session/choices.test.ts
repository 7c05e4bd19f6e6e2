import { describe, expect, it } from 'vitest'
import { candidateCounts, choiceOf, modelFor } from '../../../../client/page/session/choices.ts'
import { initialState } from '../../../../client/page/session/labState.ts'
import { rRows } from '../../../../client/page/session/planning.ts'
import { defaultSettings } from '../../../../client/page/session/settings.ts'

const model = modelFor(initialState)
const rows = (changes: Partial<typeof defaultSettings>, measured = new Map()) =>
  rRows({ ...defaultSettings, ...changes }, 7, model, measured)

describe('choiceOf', () => {
  it('shows the same price for the r that auto takes as the table of every r', () => {
    for (const bytes of [425, 65536, 1 << 20]) {
      const choice = choiceOf({ ...defaultSettings, bytes, r: 'auto' }, 7, model)
      const row = rows({ bytes }).find(({ isChosen }) => isChosen)
      expect(choice).toMatchObject({ chosen: { seconds: row?.prediction.seconds } })
    }
  })

  it('says why nothing fits', () => {
    const settings = { ...defaultSettings, consistency: 'identical', r: 2 } as const
    expect(choiceOf(settings, 7, model)).toMatch(/last bits/)
  })

  it('takes the size without elements', () => {
    const choice = choiceOf({ ...defaultSettings, bytes: 0, algorithm: 'auto' }, 7, model)
    expect(choice).toMatchObject({ chosen: { bytesSent: 0 } })
  })
})

describe('candidateCounts', () => {
  it.each([3, 7])('are those of the choice with twins and with those that need no look, P = %d', (size) => {
    const settings = { ...defaultSettings, algorithm: 'auto' }
    const of = (consistency: 'fast' | 'identical', op: 'sum' | 'max' = 'sum') => {
      const choice = choiceOf({ ...settings, op, consistency }, size, modelFor(initialState, size))
      if (typeof choice === 'string') return 0
      const admitted = choice.refused.filter(({ reason }) =>
        /^(Every rank does the|Fewer pieces)/.test(reason),
      )
      return choice.candidates.length + admitted.length
    }
    expect(candidateCounts(settings, size, modelFor(initialState, size))).toEqual({
      all: of('fast'),
      identical: of('identical'),
    })
    const maximum = candidateCounts({ ...settings, op: 'max' }, size, modelFor(initialState, size))
    expect(maximum.identical).toBe(of('identical', 'max'))
  })
})
