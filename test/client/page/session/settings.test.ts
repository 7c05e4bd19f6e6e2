import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  defaultSettings,
  inspectorTabs,
  type LabSettings,
  readAlgorithmKey,
  readHash,
  rValues,
  specOf,
  sweepOf,
  writeAlgorithmKey,
  writeHash,
} from '../../../../client/page/session/settings.ts'
import { isOffered, shownOperators, shownTypes } from '../../../../client/session/runSpec.ts'

const settings: fc.Arbitrary<LabSettings> = fc
  .record({
    bytes: fc.integer({ min: 0, max: 64 << 20 }),
    dtype: fc.constantFrom(...shownTypes),
    op: fc.constantFrom(...shownOperators),
    algorithm: fc.constantFrom(
      'auto',
      'ring',
      'butterfly',
      'butterfly:group=xor',
      'kport:ports=3,group=cyclic',
    ),
    r: fc.oneof(fc.constant('auto' as const), fc.nat(10)),
    consistency: fc.constantFrom('fast', 'identical'),
    repeats: fc.integer({ min: 1, max: 100 }),
    data: fc.constantFrom('whole', 'real'),
    tab: fc.constantFrom(...inspectorTabs),
  })
  .filter(({ dtype, op }) => isOffered(dtype, op))

describe('settings in the address', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(settings, (all) => {
        expect(readHash(writeHash(all))).toEqual(all)
      }),
    )
  })

  it('need no escapes, so that people can read them', () => {
    fc.assert(
      fc.property(settings, (all) => {
        expect(new URL(writeHash(all), 'http://x/').hash).toBe(writeHash(all))
      }),
    )
  })

  it('take defaults for anything else', () => {
    fc.assert(
      fc.property(fc.string(), (hash) => {
        expect(readHash(hash)).toEqual(defaultSettings)
      }),
    )
    expect(readHash('#v=1&size=99999999999&type=f8&op=constructor&algo=<b>&r=-1&n=0&tab=x')).toEqual(
      defaultSettings,
    )
    expect(readHash('#v=2&size=4')).toEqual(defaultSettings)
    expect(readHash('#v=1&size=4')).toEqual({ ...defaultSettings, bytes: 4 })
  })
})

describe('algorithm keys', () => {
  it('hold name and settings', () => {
    expect(readAlgorithmKey('ring')).toEqual({ algorithm: 'ring', settings: {} })
    expect(readAlgorithmKey('kport:ports=3,group=xor')).toEqual({
      algorithm: 'kport',
      settings: { ports: 3, group: 'xor' },
    })
    expect(writeAlgorithmKey('kport', { ports: 3, group: 'xor' })).toBe('kport:ports=3,group=xor')
  })
})

describe('runs from settings', () => {
  it('lists r where the algorithm has one', () => {
    expect(rValues('butterfly', 7)).toEqual([0, 1, 2, 3])
    expect(rValues('butterfly:group=xor', 8)).toEqual([0, 1, 2, 3])
    expect(rValues('ring', 7)).toEqual([])
    expect(rValues('auto', 7)).toEqual([])
  })

  it('passes r on only where it is known, cut to what the size allows', () => {
    expect(specOf({ ...defaultSettings, r: 9 }, 7).variants).toEqual([{ algorithm: 'butterfly', r: 3 }])
    expect(specOf({ ...defaultSettings, algorithm: 'ring', r: 2 }, 7).variants).toEqual([
      { algorithm: 'ring' },
    ])
    expect(specOf({ ...defaultSettings, algorithm: 'butterfly:group=xor' }, 8).variants).toEqual([
      { algorithm: 'butterfly', r: 'auto', settings: { group: 'xor' } },
    ])
  })

  it('sweeps every r at least five times, of the butterfly when the algorithm has none', () => {
    const spec = sweepOf({ ...defaultSettings, algorithm: 'ring', consistency: 'identical' }, 5)
    expect(spec).toMatchObject({ repeats: 5, warmup: 1, consistency: 'fast' })
    expect(spec.variants.map(({ algorithm, r }) => [algorithm, r])).toEqual(
      [0, 1, 2, 3].map((r) => ['butterfly', r]),
    )
  })
})
