import { describe, expect, it } from 'vitest'
import { createPrng } from '../../../shared/base/prng.ts'
import { chooseSchedule } from '../../../shared/cost/choose.ts'
import { labelOf } from '../../../shared/cost/explain.ts'
import { createTuner, type Tuner } from '../../../shared/cost/online.ts'
import type { ChoiceRequest, NetworkModel, Prediction } from '../../../shared/cost/types.ts'
import { lineModel } from './networks.ts'

const model = lineModel(7, { alpha: 1e-3, beta: 1e-7, hostBeta: 1e-7, overhead: 1e-5 })
const request: ChoiceRequest = {
  size: 7,
  bytes: 20_000,
  rounds: true,
  commutative: true,
  idempotent: false,
  consistency: 'fast',
}

/** Runs ops whose true time is the price times `truth`; returns the labels that were chosen. */
function run(
  tuner: Tuner,
  ops: number,
  truth: (prediction: Prediction) => number,
  on: NetworkModel = model,
): string[] {
  const prices = new Map(chooseSchedule(request, on).candidates.map((c) => [labelOf(c), c.seconds]))
  return Array.from({ length: ops }, () => {
    const { chosen, algorithm } = tuner.choose(request, on)
    expect(algorithm.name).toBe(chosen.algorithm)
    const seconds = prices.get(labelOf(chosen))! * truth(chosen)
    tuner.observe({ request, algorithm: chosen.algorithm, settings: chosen.settings, seconds }, on)
    return labelOf(chosen)
  })
}

const changes = (labels: readonly string[]) =>
  labels.filter((label, i) => i > 0 && label !== labels[i - 1]).length

describe('createTuner', () => {
  it('starts with the choice of the model', () => {
    expect(createTuner().choose(request, model)).toBe(chooseSchedule(request, model))
  })

  it('keeps its choice when everything is slower alike, or noisy', () => {
    expect(changes(run(createTuner(), 30, () => 1.05))).toBe(0)
    const prng = createPrng(5)
    expect(changes(run(createTuner(), 60, () => 0.95 + 0.1 * prng.next()))).toBe(0)
  })

  it('leaves a candidate that is much slower than predicted, and stays with a better one', () => {
    const first = labelOf(chooseSchedule(request, model).chosen)
    const labels = run(createTuner(), 40, (chosen) => (labelOf(chosen) === first ? 3 : 1))
    expect(labels.slice(0, 2)).toEqual([first, first])
    expect(labels[labels.length - 1]).not.toBe(first)
    expect(changes(labels)).toBeLessThanOrEqual(3)
    expect(changes(labels.slice(20))).toBe(0)
  })

  it('tries what could be better, ends, and ends well, when nothing is as predicted', () => {
    const prng = createPrng(9)
    const truths = new Map<string, number>()
    const truth = (chosen: Prediction) => {
      const label = labelOf(chosen)
      if (!truths.has(label)) truths.set(label, 1 + 2 * prng.next())
      return truths.get(label)! * (0.97 + 0.06 * prng.next())
    }
    const labels = run(createTuner(), 120, truth)
    expect(changes(labels.slice(60))).toBe(0)
  })

  it('learns per class of size, and forgets with a new model', () => {
    const tuner = createTuner()
    const first = labelOf(chooseSchedule(request, model).chosen)
    run(tuner, 20, (chosen) => (labelOf(chosen) === first ? 3 : 1))
    const far = { ...request, bytes: 8 }
    expect(tuner.choose(far, model)).toBe(chooseSchedule(far, model))
    const newer = { ...model, version: 2 }
    expect(labelOf(tuner.choose(request, newer).chosen)).toBe(first)
  })

  it('is the same on every rank from the same observations', () => {
    const truth = (chosen: Prediction) => (chosen.steps > 3 ? 1.7 : 0.9)
    expect(run(createTuner(), 25, truth)).toEqual(run(createTuner(), 25, truth))
  })

  it('leaves calls alone that name their algorithm', () => {
    const named = { ...request, algorithm: 'butterfly', r: 'auto' } as const
    const tuner = createTuner()
    tuner.observe(
      { request: named, algorithm: 'butterfly', settings: { r: 0, group: 'cyclic' }, seconds: 9 },
      model,
    )
    expect(tuner.choose(named, model)).toBe(chooseSchedule(named, model))
  })
})
