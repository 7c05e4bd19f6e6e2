/** The figures of docs/algorithms.md, from the schedules themselves. `npx tsx docs/generate.ts` writes them. */
import { bytesText } from '../shared/cost/explain.ts'
import { guessModel } from '../shared/cost/fit.ts'
import { predict } from '../shared/cost/predict.ts'
import { ceilLog2, range } from '../shared/schedule/declare.ts'
import { findAlgorithm } from '../shared/schedule/registry.ts'
import type { Settings } from '../shared/schedule/types.ts'
import { classics, costOf, removals, secondsOnCluster } from './paperTables.ts'
import { curve, dot, line, type Point, rect, svgPage, text } from './svg.ts'

const sizes = range(2, 65)
/** 32 B .. 16 MiB. */
const vectors = range(5, 25).map((exponent) => 2 ** exponent)

/** Classes of a ratio and their colours: dark to light is less to more, for every kind of sight. */
const classes = [
  { from: 0, label: '1.00', fill: '#00224E' },
  { from: 1.01, label: '1.01', fill: '#35456C' },
  { from: 1.1, label: '1.1', fill: '#666970' },
  { from: 1.25, label: '1.25', fill: '#948E77' },
  { from: 1.5, label: '1.5', fill: '#C8B866' },
  { from: 2, label: '2 and more', fill: '#FEE838' },
] as const

const fillOf = (ratio: number) => classes.filter(({ from }) => ratio >= from).at(-1)!.fill

const [left, cellWidth, cellHeight] = [64, 10.5, 11]
const panelWidth = sizes.length * cellWidth

/** One cell per number of ranks and length of vector; neighbours of one colour are one stroke. */
function heatPanel(top: number, title: string, ratioOf: (size: number, bytes: number) => number): string[] {
  const bottom = top + vectors.length * cellHeight
  const cells = vectors.flatMap((bytes, row) => {
    const fills = sizes.map((size) => fillOf(ratioOf(size, bytes)))
    const strokes: string[] = []
    for (let at = 0; at < fills.length; ) {
      let end = at + 1
      while (fills[end] === fills[at]) end++
      const y = bottom - (row + 1) * cellHeight
      strokes.push(rect(left + at * cellWidth, y, (end - at) * cellWidth, cellHeight, fills[at]!))
      at = end
    }
    return strokes
  })
  const rows = [32, 1024, 32_768, 1_048_576, 16_777_216].map((bytes) =>
    text(left - 8, bottom - (vectors.indexOf(bytes) + 0.5) * cellHeight + 4, bytesText(bytes), 'soft', 'end'),
  )
  const columns = [2, 4, 8, 16, 24, 32, 48, 64].map((size) =>
    text(left + (size - 2 + 0.5) * cellWidth, bottom + 16, String(size), 'soft', 'middle'),
  )
  return [text(left, top - 10, title, 'head'), ...cells, ...rows, ...columns]
}

/** Of the paper: every message waits for the one before it, alpha + beta m each. */
function onePortRatio(size: number, bytes: number): number {
  const times = removals(size).map((r) => secondsOnCluster(costOf('butterfly', size, { r }), bytes))
  const others = classics(size).map((cost) => secondsOnCluster(cost, bytes))
  return Math.min(...others) / Math.min(...times)
}

/** The members of the family that differ in more than whom they talk to. */
function familyOf(size: number): [string, Settings][] {
  return ['butterfly', 'subgroup', 'ports', 'one-shot', 'two-shot'].flatMap((name) =>
    findAlgorithm(name, 'allreduce')
      .variants(size)
      .filter(({ group = 'cyclic' }) => group === 'cyclic' || group === 'xor')
      .map((settings): [string, Settings] => [name, settings]),
  )
}

/** With messages to several peers under way at once, as between tabs. */
function portAwareRatio(): (size: number, bytes: number) => number {
  const models = new Map(sizes.map((size) => [size, guessModel(size)]))
  const families = new Map(sizes.map((size) => [size, familyOf(size)]))
  return (size, bytes) => {
    const secondsOf = (name: string, settings: Settings) =>
      predict(findAlgorithm(name, 'allreduce'), settings, bytes, models.get(size)!).seconds
    const best = Math.min(...families.get(size)!.map(([name, settings]) => secondsOf(name, settings)))
    const others = ['ring', 'recursive-halving', 'recursive-doubling'].map((name) => secondsOf(name, {}))
    return Math.min(...others) / best
  }
}

function ratioFigure(): string {
  const [first, second, foot] = [40, 320, 584]
  const step = panelWidth / classes.length
  const legend = classes.flatMap(({ fill, label }, at) => [
    rect(left + at * step, foot, step, 12, fill),
    text(left + at * step, foot + 28, label, 'soft'),
  ])
  return svgPage(
    left + panelWidth + 24,
    foot + 58,
    'How many times longer the best classic algorithm takes',
    'For each number of ranks and length of vector, the time of the best of ring, recursive halving and recursive doubling over that of the best schedule of the butterfly family, once with one port and once with many.',
    [
      ...heatPanel(first, 'One port, a cluster: butterfly with the best r', onePortRatio),
      ...heatPanel(
        second,
        'Many ports, tabs on a local network: the whole family, best k and r',
        portAwareRatio(),
      ),
      ...legend,
      text(
        left,
        foot + 46,
        'Best of ring, halving and doubling over the family; across: ranks P, up: vector',
        'soft',
      ),
    ],
  )
}

interface Frame {
  x(value: number): number
  y(value: number): number
}

/** Axes with ticks; the marks come from `draw`. */
function plot(
  title: string,
  about: string,
  axes: {
    x: { of: (value: number) => number; ticks: readonly number[]; name: string }
    y: { of: (value: number) => number; ticks: readonly number[]; name: string }
  },
  draw: (frame: Frame) => string[],
): string {
  const [top, bottom, right] = [46, 300, left + 560]
  const frame: Frame = {
    x: (value) => left + (right - left) * axes.x.of(value),
    y: (value) => bottom - (bottom - top) * axes.y.of(value),
  }
  return svgPage(right + 96, bottom + 48, title, about, [
    text(left, 22, title, 'head'),
    ...axes.y.ticks.flatMap((tick) => [
      line(left, frame.y(tick), right, frame.y(tick), 'grid'),
      text(left - 8, frame.y(tick) + 4, String(tick), 'soft', 'end'),
    ]),
    line(left, bottom, right, bottom, 'axis'),
    ...axes.x.ticks.map((tick) => text(frame.x(tick), bottom + 18, String(tick), 'soft', 'middle')),
    text(right, bottom + 36, axes.x.name, 'soft', 'end'),
    text(left, top - 8, axes.y.name, 'soft'),
    ...draw(frame),
  ])
}

/** What the first removed step costs, beyond the 2 (P - 1) chunks that nothing can do without. */
function freeStepFigure(): string {
  const extra = (size: number, name: string, settings: Settings) =>
    costOf(name, size, settings).chunks - 2 * (size - 1)
  const shown = range(3, 65)
  return plot(
    'Chunks that the first removed step costs',
    'The paper pays ceil(log2 P) - 1 chunks for every P. On a subgroup of order two every even P pays nothing; odd P that three divides may pay less.',
    {
      x: { of: (size) => size / 66, ticks: [4, 8, 16, 24, 32, 40, 48, 56, 64], name: 'ranks P' },
      y: { of: (chunks) => chunks / 6, ticks: [0, 1, 2, 3, 4, 5], name: 'chunks beyond 2 (P - 1)' },
    },
    ({ x, y }) => [
      ...shown.map((size) => dot([x(size), y(extra(size, 'butterfly', { r: 1 }))], 'b', 'ring')),
      ...shown
        .filter((size) => size % 2 === 0)
        .map((size) => dot([x(size), y(extra(size, 'subgroup', { order: 2 }))], 'a')),
      text(x(66), y(extra(64, 'butterfly', { r: 1 })) + 4, 'r = 1', 'name b'),
      text(x(66), y(0) - 6, 'd = 2,', 'name a'),
      text(x(66), y(0) + 10, 'even P', 'name a'),
    ],
  )
}

/** From the ring to the butterfly. */
function windowFigure(): string {
  const size = 127
  const widths = range(1, (size >> 1) + 1)
  const costs = widths.map((window) => ({ window, ...costOf('window', size, { window }) }))
  const limit = Math.log2(512)
  return plot(
    `Between ring and butterfly: the windows of ${size} ranks`,
    `Steps fall from ${costs[0]!.steps} to ${costs.at(-1)!.steps} as a message may carry 1 to ${widths.at(-1)} chunks, while the peers of a rank rise from ${costs[0]!.peers} to ${costs.at(-1)!.peers}. Bytes are the same for all.`,
    {
      x: {
        of: (w) => Math.log2(w) / 6,
        ticks: [1, 2, 4, 8, 16, 32, 63],
        name: 'w, chunks in a message at most',
      },
      y: {
        of: (value) => Math.log2(value) / limit,
        ticks: [2, 8, 32, 128, 256],
        name: 'steps, peers of a rank',
      },
    },
    ({ x, y }) => {
      const points = (of: (cost: (typeof costs)[number]) => number): Point[] =>
        costs.map((cost) => [x(cost.window), y(of(cost))])
      return [
        curve(
          points(({ steps }) => steps),
          'a',
        ),
        curve(
          points(({ peers }) => peers),
          'c',
        ),
        text(x(1) + 8, y(252) - 2, 'ring', 'soft'),
        text(x(63) + 4, y(costs.at(-1)!.steps) - 6, 'steps', 'name a'),
        text(x(63) + 4, y(costs.at(-1)!.peers) + 14, 'peers', 'name c'),
        text(x(63), y(14) - 24, `butterfly, ${2 * ceilLog2(size)}`, 'soft', 'end'),
      ]
    },
  )
}

/** By file name in docs/images. */
export const figures: Readonly<Record<string, () => string>> = {
  'ratio.svg': ratioFigure,
  'free-step.svg': freeStepFigure,
  'window.svg': windowFigure,
}
