/** Tables that look at the generalized butterfly as its paper does: one port, alpha-beta-gamma, and the bounds. */
import { completeSettings } from '../shared/schedule/build.ts'
import { countRank } from '../shared/schedule/counts.ts'
import { floorLog2 } from '../shared/schedule/declare.ts'
import { findAlgorithm } from '../shared/schedule/registry.ts'
import type { Settings } from '../shared/schedule/types.ts'
import { decimal, table } from './table.ts'

/** Steps and volumes (vectors) of a schedule in which all ranks do the same. */
export function costOf(name: string, size: number, given: Settings = {}) {
  const algorithm = findAlgorithm(name)
  const settings = completeSettings(algorithm, size, given)
  const shape = algorithm.shape(size, settings)
  const { chunksSent, vectorSent, vectorCombined, peers } = countRank(
    shape,
    algorithm.part(size, settings, 0),
  )
  return { steps: shape.steps, chunks: chunksSent, sent: vectorSent, combined: vectorCombined, peers }
}

const stepsRemovable = (size: number): number => costOf('butterfly', size).steps / 2

/** Every r of the butterfly. */
export const removals = (size: number): number[] =>
  Array.from({ length: stepsRemovable(size) + 1 }, (_, r) => r)

/** A cluster with 10 Gbit/s Ethernet: seconds per message, per byte, per byte combined. */
const cluster = { alpha: 3e-5, beta: 1e-8, gamma: 2e-10 }

interface Cost {
  readonly steps: number
  readonly sent: number
  readonly combined: number
}

/** With one port: steps wait for each other. */
export const secondsOnCluster = ({ steps, sent, combined }: Cost, bytes: number): number =>
  steps * cluster.alpha + sent * bytes * cluster.beta + combined * bytes * cluster.gamma

/** What the paper compares with. With the classic fold, steps before and after are on everyone's path. */
export function classics(size: number): Cost[] {
  const power = floorLog2(size)
  const share = 1 - 2 ** -power
  const fold = size === 2 ** power ? { steps: 0, sent: 0, combined: 0 } : { steps: 2, sent: 2, combined: 1 }
  return [
    costOf('ring', size),
    { steps: power + fold.steps, sent: power + fold.sent, combined: power + fold.combined },
    { steps: 2 * power + fold.steps, sent: 2 * share + fold.sent, combined: share + fold.combined },
  ]
}

const messageSizes = [
  ['425 B', 425],
  ['1 KB', 1024],
  ['9 KB', 9216],
  ['64 KB', 65_536],
  ['1 MB', 1_048_576],
  ['16 MB', 16_777_216],
] as const

/** The paper's figure 1: best of ring, halving and doubling over the best r of the butterfly. */
function ratioTable(): string {
  const rows = [7, 8, 12, 31, 127, 128].map((size) => {
    const butterflies = removals(size).map((r) => costOf('butterfly', size, { r }))
    const others = classics(size)
    return [
      String(size),
      ...messageSizes.map(([, bytes]) => {
        const times = butterflies.map((cost) => secondsOnCluster(cost, bytes))
        const best = Math.min(...times)
        const ratio = Math.min(...others.map((cost) => secondsOnCluster(cost, bytes))) / best
        return `${ratio.toFixed(2)} (r = ${times.indexOf(best)})`
      }),
    ]
  })
  return table(['P', ...messageSizes.map(([label]) => label)], rows)
}

/** Chunks sent: the paper's closed bound, the schedule, and the best schedule on a subgroup with as many steps. */
function boundTable(): string {
  const rows = [6, 7, 9, 12, 16, 31, 33, 36].flatMap((size) => {
    const length = stepsRemovable(size)
    const subgroups = findAlgorithm('subgroup').variants(size)
    return removals(size)
      .slice(1, -1)
      .map((r) => {
        const { chunks, steps } = costOf('butterfly', size, { r })
        const rivals = subgroups
          .map((settings) => ({ ...costOf('subgroup', size, settings), order: settings.order }))
          .filter((rival) => rival.steps <= steps)
          .sort((a, b) => a.chunks - b.chunks)
        const best = rivals[0]
        const bound = 2 * (size - 1) + (2 ** r - 1) * (length - 1)
        return [
          String(size),
          String(r),
          String(steps),
          String(bound),
          String(chunks),
          best && best.chunks < chunks ? `${best.chunks} (d = ${best.order})` : '',
        ]
      })
  })
  return table(['P', 'r', 'steps', 'bound (36)', 'sent', 'better on a subgroup'], rows)
}

/** Even P: the first removed step. */
function freeStepTable(): string {
  const rows = [6, 8, 10, 12, 14, 16, 24, 48].map((size) => {
    const whole = costOf('butterfly', size)
    const removed = costOf('butterfly', size, { r: 1 })
    const free = costOf('subgroup', size, { order: 2 })
    return [size, whole.steps, whole.chunks, free.steps, free.chunks, removed.chunks].map(String)
  })
  return table(['P', 'steps', 'chunks', 'steps, d = 2', 'chunks, d = 2', 'chunks of the paper’s r = 1'], rows)
}

/** From the ring to the butterfly, on 127 ranks. */
function windowTable(): string {
  const widths = [1, 2, 3, 4, 8, 16, 32, 63]
  const costs = widths.map((window) => costOf('window', 127, { window }))
  return table(
    ['w', ...widths.map(String)],
    [
      ['steps', ...costs.map(({ steps }) => String(steps))],
      ['peers', ...costs.map(({ peers }) => String(peers))],
      ['vectors sent', ...costs.map(({ sent }) => decimal(sent))],
    ],
  )
}

export const paperTables: Readonly<Record<string, () => string>> = {
  'figure 1': ratioTable,
  bound: boundTable,
  'free step': freeStepTable,
  'window 127': windowTable,
}
