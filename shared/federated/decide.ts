/**
 * What a round does, from what all members told in its meeting. Pure: every member derives the same. The state that most hold goes to
 * all that have another; whose update began at that state is counted, unless a guard leaves it out.
 */
import { NonFiniteError, NoSamplesError, type PeerName } from '../base/errors.ts'
import type { NonFinitePolicy } from '../collective/types.ts'

/** What a member tells in a meeting. */
export interface Row {
  readonly peer: PeerName
  /** Has trained since the last meeting, or had its chance to. */
  readonly hasTurn: boolean
  /** Its state comes from a round or a checkpoint, and not only from its own first weights. */
  readonly isSynced: boolean
  readonly wantsStop: boolean
  readonly hasFailed: boolean
  readonly isFinite: boolean
  /** Rounds completed, and the fingerprint of the state after them. */
  readonly round: number
  readonly state: string
  readonly stateBytes: number
  readonly bucketBytes: number
  readonly samples: number
  /** Euclidean norm of the update, and its largest element. */
  readonly norm: number
  readonly peak: number
  readonly trainSeconds: number
  readonly metrics: readonly number[]
}

/** Why an update was not counted. */
export type Exclusion = 'newcomer' | 'no-samples' | 'non-finite' | 'outlier' | 'failed'

export interface Guard {
  /** Default 'drop-rank'. */
  readonly nonFinite?: Exclude<NonFinitePolicy, 'allow'>
  /** An update whose norm is more than this many times the median of all norms is left out. Default: none is. */
  readonly maxNormRatio?: number
}

export interface Decision {
  /** Whose state the round begins with. */
  readonly source: Row
  /** Members with another state: they get the source's first. */
  readonly stale: readonly Row[]
  readonly counted: readonly Row[]
  readonly excluded: readonly { readonly row: Row; readonly why: Exclusion }[]
  /** Nobody has had a turn yet: the meeting only gives all the same state. */
  readonly isStart: boolean
  readonly wantsStop: boolean
}

/** Throws alike on all members when no update can be counted, or a guard says so. */
export function decideRound(rows: readonly Row[], guard: Guard): Decision {
  const source = sourceOf(rows)
  const isStale = (row: Row) => row.round !== source.round || row.state !== source.state
  const excluded: { row: Row; why: Exclusion }[] = []
  const candidates = rows.filter((row) => {
    const why = isStale(row) || !row.hasTurn ? 'newcomer' : whyNot(row)
    if (why) excluded.push({ row, why })
    return !why
  })
  const bad = excluded.filter(({ why }) => why === 'non-finite').map(({ row }) => row.peer)
  if (bad.length > 0 && guard.nonFinite === 'error') throw new NonFiniteError(bad)
  const limit =
    (guard.maxNormRatio ?? Number.POSITIVE_INFINITY) * medianOf(candidates.map(({ norm }) => norm))
  const counted = candidates.filter((row) => {
    const isOutlier = row.norm > limit
    if (isOutlier) excluded.push({ row, why: 'outlier' })
    return !isOutlier
  })
  const isStart = rows.every((row) => !row.hasTurn)
  if (!isStart && counted.length === 0) throw new NoSamplesError()
  return {
    source,
    stale: rows.filter(isStale),
    counted,
    excluded,
    isStart,
    wantsStop: rows.some((row) => row.wantsStop),
  }
}

/**
 * The state that most members hold that have been trained; of equally many the newest, and of these the first rank's. So no single member can
 * give all others a state by saying that it is ahead, and one that comes back with an old checkpoint does not throw them back.
 */
function sourceOf(rows: readonly Row[]): Row {
  const synced = rows.filter(({ isSynced }) => isSynced)
  const holders = ({ round, state }: Row) =>
    synced.filter((row) => row.round === round && row.state === state).length
  return (synced.length > 0 ? synced : rows).reduce((best, row) => {
    const ahead = holders(row) - holders(best) || row.round - best.round
    return ahead > 0 ? row : best
  })
}

const whyNot = (row: Row): Exclusion | undefined => {
  if (row.hasFailed) return 'failed'
  if (row.samples === 0) return 'no-samples'
  return row.isFinite ? undefined : 'non-finite'
}

/** Of an even number: the lower one, so that a limit of multiples of it is the stricter. 0 of nothing. */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[(sorted.length - 1) >> 1] ?? 0
}

const flags = ['hasTurn', 'isSynced', 'wantsStop', 'hasFailed', 'isFinite'] as const
const numbers = ['round', 'stateBytes', 'bucketBytes', 'samples', 'norm', 'peak', 'trainSeconds'] as const

export function rowToNumbers(row: Omit<Row, 'peer'>): number[] {
  return [
    ...flags.map((name) => Number(row[name])),
    ...numbers.map((name) => row[name]),
    Number.parseInt(row.state.slice(0, 8), 16),
    Number.parseInt(row.state.slice(8), 16),
    ...row.metrics,
  ]
}

/** The row that a member told; numbers that no member would send are read as an update that cannot be used. */
export function rowFromNumbers(peer: PeerName, values: ArrayLike<number>): Row {
  const flag = (index: number) => values[index] === 1
  const value = (index: number) => {
    const found = values[flags.length + index]!
    return found >= 0 && found < Number.MAX_SAFE_INTEGER ? found : 0
  }
  const at = flags.length + numbers.length
  const half = (index: number) => (values[at + index]! >>> 0).toString(16).padStart(8, '0')
  const [round, stateBytes, bucketBytes, samples, norm, peak, trainSeconds] = numbers.map((_, i) => value(i))
  return {
    peer,
    hasTurn: flag(0),
    isSynced: flag(1),
    wantsStop: flag(2),
    hasFailed: flag(3),
    isFinite: flag(4),
    round: round!,
    stateBytes: stateBytes!,
    bucketBytes: bucketBytes!,
    samples: samples!,
    norm: norm!,
    peak: peak!,
    trainSeconds: trainSeconds!,
    state: half(0) + half(1),
    metrics: Array.from(values).slice(at + 2),
  }
}
