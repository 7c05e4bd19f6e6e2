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
  it.each([3, 7])('differ by those that the wish for the same bits leaves out, P = %d', (size) => {
    const settings = { ...defaultSettings, algorithm: 'auto', consistency: 'identical' } as const
    const measured = modelFor(initialState, size)
    const { all, identical } = candidateCounts(settings, size, measured)
    const choice = choiceOf(settings, size, measured)
    const refused = typeof choice === 'string' ? [] : choice.refused
    expect(all - identical).toBe(refused.filter(({ reason }) => reason.includes('last bits')).length)
    expect(identical).toBeGreaterThan(0)
    expect(all).toBeGreaterThan(identical)
    // Nothing is rounded: nothing can differ.
    const maximum = candidateCounts({ ...settings, op: 'max' }, size, measured)
    expect(maximum.identical).toBe(maximum.all)
  })
})
