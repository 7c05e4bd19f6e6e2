import { expect, it } from 'vitest'
import { windowShareOf } from '../../../shared/collective/windowShare.ts'
import { findAlgorithm } from '../../../shared/schedule/registry.ts'

it.each([
  ['ring', {}, 7, 1],
  ['two-shot', {}, 7, 1 / 6],
  ['one-shot', {}, 4, 1 / 3],
  ['butterfly', { r: 0, group: 'cyclic' }, 2, 1],
  ['butterfly', { r: 0, group: 'xor' }, 4, 1 / 2],
  ['butterfly', { r: 0, group: 'cyclic' }, 7, 1 / 3],
  ['butterfly', { r: 0, group: 'cyclic' }, 64, 1 / 3],
  ['ring', {}, 1, 1],
] as const)('%s %o of %i ranks fills %f of a window', (name, settings, size, share) => {
  const algorithm = findAlgorithm(name, 'allreduce')
  for (let rank = 0; rank < size; rank++)
    expect(windowShareOf(algorithm.part(size, settings, rank))).toBeCloseTo(share)
})
