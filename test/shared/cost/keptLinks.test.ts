import { describe, expect, it } from 'vitest'
import { chooseSchedule } from '../../../shared/cost/choose.ts'
import { guessModel } from '../../../shared/cost/fit.ts'
import type { ChoiceRequest } from '../../../shared/cost/types.ts'
import { buildPart } from '../../../shared/schedule/build.ts'
import { collectives } from '../../../shared/schedule/collectives.ts'
import { linksOf } from '../../../shared/schedule/links.ts'
import { findAlgorithm } from '../../../shared/schedule/registry.ts'
import type { Algorithm, Settings } from '../../../shared/schedule/types.ts'

const request = (size: number, rest: Partial<ChoiceRequest> = {}): ChoiceRequest => ({
  size,
  bytes: 10_000,
  rounds: true,
  commutative: true,
  idempotent: false,
  consistency: 'identical',
  links: 'kept',
  ...rest,
})

/** The first rank that sends to one that it has no link to. */
function strayOf(algorithm: Algorithm, size: number, settings: Settings): number | undefined {
  for (let rank = 0; rank < size; rank++) {
    const links = linksOf(size, rank)
    const { steps } = buildPart(algorithm, size, settings, rank)
    if (steps.some(({ sends }) => sends.some(({ to }) => !links.includes(to)))) return rank
  }
  return undefined
}

describe('on the links that a large group keeps', () => {
  it.each([33, 60, 127])(
    'every collective of %i ranks has a schedule, and all that are proposed keep to them',
    (size) => {
      const model = guessModel(size)
      for (const collective of collectives) {
        const { algorithm, candidates } = chooseSchedule(request(size, { collective }), model)
        expect(algorithm.collective).toBe(collective)
        for (const { algorithm: name, settings } of candidates)
          expect([name, settings, strayOf(findAlgorithm(name, collective), size, settings)]).toEqual([
            name,
            settings,
            undefined,
          ])
      }
    },
  )

  it('a schedule that needs others is refused by name, with the reason', () => {
    const named = request(40, { algorithm: 'butterfly', settings: { group: '4x10' } })
    expect(() => chooseSchedule(named, guessModel(40))).toThrow(
      'links that a group of this size does not keep open',
    )
    expect(() => chooseSchedule(request(40, { algorithm: 'mesh' }), guessModel(40))).toThrow()
  })
})
