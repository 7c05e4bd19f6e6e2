/** Data for the harness: real schedules and predictions, and measurements that might have been. */
import type { FitLink } from '../../../../../client/page/stage/charts/fitLayout.ts'
import type { LinkInfo } from '../../../../../client/page/stage/charts/linkMatrix.ts'
import type { SweepRow } from '../../../../../client/page/stage/charts/sweepLayout.ts'
import type { SizeCandidate } from '../../../../../client/page/stage/charts/winners.ts'
import type { StageRank } from '../../../../../client/page/stage/timetable/data.ts'
import { createPrng } from '../../../../../shared/base/prng.ts'
import { predict } from '../../../../../shared/cost/predict.ts'
import type { LinkCurve, NetworkModel } from '../../../../../shared/cost/types.ts'
import { buildSchedule } from '../../../../../shared/schedule/build.ts'
import { findAlgorithm } from '../../../../../shared/schedule/registry.ts'
import type { Schedule } from '../../../../../shared/schedule/types.ts'

const names = [
  'Ana',
  'Bo',
  'Cem',
  'Dalia',
  'Emeka',
  'Faye',
  'Goran',
  'Hana',
  'Lime Monkey',
  'Ines',
  'Jo',
  'Kofi',
]

export function ranksOf(size: number): StageRank[] {
  return Array.from({ length: size }, (_, rank) => ({
    name: names[rank % names.length] ?? `Peer ${rank}`,
    peerId: `peer-${rank}`,
    hue: rank,
    here: rank === 0,
  }))
}

export function scheduleOf(query: URLSearchParams): { schedule: Schedule; ghostOf?: Schedule | undefined } {
  const size = Number(query.get('p') ?? 7)
  const algorithm = findAlgorithm(query.get('algo') ?? 'butterfly', 'allreduce')
  const settings: Record<string, number | string> = {}
  for (const parameter of algorithm.parameters) {
    const value = query.get(parameter.name)
    if (value !== null) settings[parameter.name] = Number.isNaN(Number(value)) ? value : Number(value)
  }
  const schedule = buildSchedule(algorithm, size, settings)
  const removed = Number(settings.r ?? 0)
  return {
    schedule,
    ghostOf: removed > 0 ? buildSchedule(algorithm, size, { ...settings, r: 0 }) : undefined,
  }
}

function curveOf(seed: number): LinkCurve {
  const random = createPrng(seed)
  const alpha = 0.0004 + random.next() * 0.0004
  const rate = 20e6 + random.next() * 20e6
  const points = Array.from({ length: 9 }, (_, i) => 4 ** i * 16).map((bytes) => ({
    bytes,
    seconds: (alpha + bytes / rate + (bytes > 8192 ? 0.0006 : 0)) * (0.95 + random.next() * 0.1),
  }))
  return { points, alpha, beta: 1 / rate, residual: 0.12 }
}

export function linksOf(size: number): LinkInfo[] {
  return fitsOf(size).map(({ from, to, curve }) => ({
    from,
    to,
    rtt: 2 * curve.alpha * (from === 2 && to === 5 ? 6 : 1),
    bytesPerSecond: 1 / curve.beta,
    path: from === 2 ? 'relayed' : 'direct',
  }))
}

export function fitsOf(size: number): FitLink[] {
  return Array.from({ length: size }, (_, from) => from).flatMap((from) =>
    Array.from({ length: size }, (_, to) => to)
      .filter((to) => to !== from)
      .map((to) => ({ from, to, curve: curveOf(from * size + to) })),
  )
}

function modelOf(size: number): NetworkModel {
  const links = Array.from({ length: size }, (_, from) =>
    Array.from({ length: size }, (_, to) => (from === to ? undefined : curveOf(from * size + to))),
  )
  return { version: 1, size, links, gamma: 4e-10, overhead: 0.00005, hostBeta: 0 }
}

function settingsOf(size: number): number[] {
  return Array.from({ length: Math.ceil(Math.log2(size)) + 1 }, (_, r) => r)
}

function predictionsOf(size: number, bytes: number) {
  const model = modelOf(size)
  const butterfly = findAlgorithm('butterfly', 'allreduce')
  return [
    ...settingsOf(size).map((r) => ({
      label: `r = ${r}`,
      prediction: predict(butterfly, { ...buildSchedule(butterfly, size, { r }).settings }, bytes, model),
    })),
    { label: 'ring', prediction: predict(findAlgorithm('ring', 'allreduce'), {}, bytes, model) },
  ]
}

function measuredOf(seconds: number, seed: number) {
  const median = seconds * (0.9 + createPrng(seed).next() * 0.3)
  return { median, low: median * 0.93, high: median * 1.14, runs: 20 }
}

export function sweepOf(size: number, bytes: number): SweepRow[] {
  const rows = predictionsOf(size, bytes)
  const least = Math.min(...rows.map((row) => row.prediction.seconds))
  return rows.map((row, i) => ({
    ...row,
    measured: measuredOf(row.prediction.seconds, i + 3),
    chosen: row.prediction.seconds === least,
  }))
}

export function sizesOf(size: number): SizeCandidate[] {
  const sizes = Array.from({ length: 15 }, (_, i) => 2 ** (i + 8))
  const bySize = sizes.map((bytes) => ({ bytes, rows: predictionsOf(size, bytes) }))
  return (bySize[0]?.rows ?? []).map(({ label }, i) => ({
    label,
    points: bySize.map(({ bytes, rows }) => ({ bytes, seconds: rows[i]?.prediction.seconds ?? 0 })),
    measured: bySize
      .filter((_, n) => n % 4 === 2)
      .map(({ bytes, rows }) => ({
        bytes,
        measured: measuredOf(rows[i]?.prediction.seconds ?? 1, bytes + i),
      })),
    baseline: label === 'ring',
  }))
}
