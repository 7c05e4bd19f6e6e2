/** Whether what was measured reaches the goals of docs/benchmarks.md. */
import { roundTrip } from '../../lab/network.ts'
import type { PlaneResult } from '../plane.ts'
import { median, spread } from '../statistics.ts'
import type { Cell, Summary } from './samples.ts'

export interface Finding {
  /** What it is about; without either it is all cells together. */
  readonly cell?: Cell
  readonly where?: string
  readonly found: string
  readonly goal: string
  readonly isReached: boolean
}

/**
 * Milliseconds of the best of seven plain algorithms without pipelining, flow control or arithmetic: Node peers, P = 7, 10 ms there and back,
 * 50 Mbit/s, measured before Papilio was built.
 */
const prototype: ReadonlyMap<number, number> = new Map([
  [8, 6.3],
  [1024, 7.1],
  [9216, 15.8],
  [28_672, 21.9],
  [65_536, 36.6],
  [262_144, 137],
  [1_048_576, 507],
  [4_194_304, 1637],
])

const percent = (part: number) => `${(100 * part).toFixed(1)} %`
const ms = (seconds: number) => `${(seconds * 1e3).toFixed(1)} ms`

/** How many times as long as auto, call by call: they took turns. */
function timesAuto({ auto }: Cell, { seconds, median: typical }: Summary): { ratio: number; text: string } {
  if (!auto) return { ratio: Number.NaN, text: '-' }
  const each = seconds.map((value, call) => value / (auto.seconds[call] ?? auto.median))
  return {
    ratio: typical / auto.median,
    text: `${(typical / auto.median).toFixed(2)} [${Math.min(...each).toFixed(2)}..${Math.max(...each).toFixed(2)}] times`,
  }
}

const against = (labels: readonly string[], least: number) => (cells: readonly Cell[]) =>
  cells.flatMap((cell) =>
    cell.summaries
      .filter(({ label }) => labels.includes(label))
      .map((summary): Finding => {
        const { ratio, text } = timesAuto(cell, summary)
        const found = `${summary.label} ${ms(summary.median)}, auto ${ms(cell.auto?.median ?? Number.NaN)}: ${text}`
        return { cell, found, goal: `>= ${least} times`, isReached: ratio >= least }
      }),
  )

function bestR(cells: readonly Cell[]): Finding[] {
  return cells.flatMap((cell) => {
    const best = cell.summaries.find(({ label }) => label.startsWith('butterfly'))
    if (!best?.predicted) return []
    const { predicted } = best
    return cell.summaries
      .filter(({ label }) => label === 'ring' || label === 'recursive-doubling')
      .map((other): Finding => {
        const measured = other.median / best.median
        const expected = (other.predicted ?? Number.NaN) / predicted
        return {
          cell,
          found: `${other.label} / ${best.label}: ${measured.toFixed(2)}, predicted ${expected.toFixed(2)}`,
          goal: 'within 15 %',
          isReached: Math.abs(expected / measured - 1) <= 0.15,
        }
      })
  })
}

function small(cells: readonly Cell[]): Finding[] {
  return cells.flatMap((cell) => {
    if (!cell.auto) return []
    const oneWay = roundTrip(cell.network) / 2000
    const delays = cell.auto.seconds.map((seconds) => seconds / oneWay)
    const most = cell.bytes <= 9216 ? 2.5 : 4
    return {
      cell,
      found: `${spread(delays, 2)} one-way delays by ${cell.auto.chosen}`,
      goal: `<= ${most}`,
      isReached: median(delays) <= most,
    }
  })
}

function line(cells: readonly Cell[]): Finding[] {
  return cells.flatMap((cell) => {
    const { use, median: typical, seconds, chosen } = cell.auto ?? {}
    if (use === undefined || !typical || !seconds) return []
    const uses = seconds.map((each) => (use * typical) / each)
    return { cell, found: `${spread(uses, 2)} by ${chosen}`, goal: '>= 0.8', isReached: use >= 0.8 }
  })
}

function regret(cells: readonly Cell[]): Finding[] {
  const regrets = cells.flatMap((cell) => cell.regret ?? [])
  const errors = cells.flatMap(({ summaries }) => summaries.flatMap(({ error }) => error ?? [])).map(Math.abs)
  if (regrets.length === 0 || errors.length === 0) return []
  const [typical, worst, error] = [median(regrets), Math.max(...regrets), median(errors)]
  return [
    {
      found: `regret: median ${percent(typical)}, worst ${percent(worst)}`,
      goal: 'median <= 3 %, worst <= 15 %',
      isReached: typical <= 0.03 && worst <= 0.15,
    },
    {
      found: `predicted against measured: median error ${percent(error)} of ${errors.length}`,
      goal: '<= 15 %',
      isReached: error <= 0.15,
    },
  ]
}

function mpi(cells: readonly Cell[]): Finding[] {
  return cells.flatMap((cell) => {
    const other = cell.summaries.find(({ label }) => label === 'mpi')
    if (!other || !cell.auto) return []
    const least = cell.bytes <= 65_536 ? 4 : 3
    const { ratio, text } = timesAuto(cell, other)
    const bySlowest = other.slowest / cell.auto.slowest
    return {
      cell,
      found: `MPI ${ms(other.median)}, auto ${ms(cell.auto.median)}: ${text}; by the slowest rank's own time ${bySlowest.toFixed(2)} times`,
      goal: `>= ${least} times`,
      isReached: ratio >= least,
    }
  })
}

function comparePrototype(cells: readonly Cell[]): Finding[] {
  return cells.flatMap((cell) => {
    const known = prototype.get(cell.bytes)
    if (known === undefined || !cell.auto) return []
    const typical = cell.auto.median
    const isLong = cell.bytes >= 65_536
    const overFloor = typical / cell.floor
    return {
      cell,
      found: `${spread(
        cell.auto.seconds.map((seconds) => seconds * 1e3),
        1,
      )} ms by ${cell.auto.chosen}; prototype ${known} ms; ${overFloor.toFixed(2)} x the floor of ${ms(cell.floor)}`,
      goal: `<= ${known} ms${isLong ? ', <= 1.25 x the floor' : ''}`,
      isReached: typical * 1e3 <= known && (!isLong || overFloor <= 1.25),
    }
  })
}

/** Against the same channels driven raw. */
export function judgePlane(results: readonly PlaneResult[]): Finding[] {
  return results.flatMap(({ size, shares, rounds }) => [
    {
      where: `P = ${size}, 16 MiB`,
      found: `${spread(shares, 2)} of the bytes per second of raw channels`,
      goal: '>= 0.9',
      isReached: median(shares) >= 0.9,
    },
    {
      where: `P = ${size}, 424 B`,
      found: `${rounds.toFixed(2)} x (rounds x a raw message one way)`,
      goal: '<= 1.3',
      isReached: rounds <= 1.3,
    },
  ])
}

export const judges = {
  mesh: against(['raw', 'one-shot'], 3),
  star: against(['star'], 5),
  bestR,
  small,
  line,
  regret,
  mpi,
  prototype: comparePrototype,
} as const
