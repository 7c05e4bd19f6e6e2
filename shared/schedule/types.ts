/**
 * The form of a schedule: plain, serialisable data, made by a pure function of (size, settings). It knows chunks
 * and ranks; it knows neither bytes nor time nor values.
 *
 * Meaning, for an interpreter:
 * 1. A rank owns `slots.length` slots. Slot s holds a partial result of chunk `slots[s]`, or nothing yet.
 * 2. At the start each slot in `input` holds the rank's own contribution to its chunk.
 * 3. Steps run in order. In a step, first every send reads its slots (the values before the step); then the receives
 *    are applied in the order listed; then the locals are applied in the order listed.
 * 4. At the end the slots in `output` hold the results.
 * A message is the concatenation of its slots in the order listed; there is at most one message per (from, to, step).
 */

export type Collective =
  | 'allreduce'
  | 'reduceScatter'
  | 'allgather'
  | 'reduce'
  | 'broadcast'
  | 'gather'
  | 'scatter'
  | 'alltoall'
  | 'barrier'

/**
 * How a value is written to a slot. `store` replaces; `append` makes slot := slot (+) value; `prepend` makes
 * slot := value (+) slot. So the operand order of every combine is fixed here and never by arrival.
 */
export type How = 'store' | 'append' | 'prepend'

export interface Send {
  readonly to: number
  /** Slots of the sender, in message order. */
  readonly slots: readonly number[]
}

export interface Receive {
  readonly from: number
  /** Slots of the receiver, in message order. */
  readonly slots: readonly number[]
  readonly how: How
}

/** A move inside a rank: writes the value of slot `from` to slot `slot`. */
export interface Local {
  readonly from: number
  readonly slot: number
  readonly how: How
}

export interface Step {
  readonly sends: readonly Send[]
  readonly receives: readonly Receive[]
  readonly locals: readonly Local[]
}

/** What one rank does. */
export interface RankSchedule {
  readonly rank: number
  /** slots[s] is the chunk that slot s holds a partial result of. */
  readonly slots: readonly number[]
  /** Slots that hold this rank's own contribution at the start. */
  readonly input: readonly number[]
  readonly steps: readonly Step[]
  /** Slots that hold results at the end; in chunk order. */
  readonly output: readonly number[]
}

/** Parameter values of an algorithm: r, ports, window, group, root, ... */
export type Settings = Readonly<Record<string, number | string>>

/** What all ranks share. */
export interface ScheduleShape {
  readonly collective: Collective
  readonly algorithm: string
  readonly settings: Settings
  readonly size: number
  readonly steps: number
  /** Number of chunks that the vector is cut into. */
  readonly chunks: number
  /**
   * Where chunk c begins and ends, as a fraction of the vector: cuts[c] .. cuts[c + 1], cuts[0] = 0, cuts[chunks] = 1.
   * Absent: even cuts, c / chunks.
   */
  readonly cuts?: readonly number[]
  /** Rank that owns the input or the result, for rooted collectives. */
  readonly root?: number
}

export interface Schedule extends ScheduleShape {
  readonly ranks: readonly RankSchedule[]
}

/** Exact counts, in chunks; each figure is that of the busiest rank. */
export interface Counts {
  readonly steps: number
  readonly chunksSentPerRank: number
  readonly chunkCombinesPerRank: number
  readonly peersPerRank: number
}

export interface Parameter {
  readonly name: string
  readonly description: string
  /** Values that are allowed for this size, the default first. */
  values(size: number): readonly (number | string)[]
}

/** What must be true of the call and the network before an algorithm may be offered. */
export interface Restrictions {
  /** The operands may be combined in another order than that of the ranks, if not with all settings (`ordered`). */
  readonly commutative: boolean
  /** A contribution may be counted more than once (min, max, band, bor). */
  readonly idempotent: boolean
  /** The links that a rank needs: to everyone, or only to the peers in its steps (O(log P) or less). */
  readonly links: 'all' | 'some'
}

/**
 * An algorithm of the registry: one file, one line in registry.ts. Every suite (proof, values, counts, cost, tuner)
 * then covers it.
 */
export interface Algorithm {
  readonly name: string
  readonly title: string
  readonly collective: Collective
  /** Paper and equation, or library, that it comes from. */
  readonly source: string
  readonly parameters: readonly Parameter[]
  readonly restrictions: Restrictions
  /** A baseline is measured and drawn, but the tuner never proposes it. */
  readonly baseline: boolean
  /** In each step every rank sends and combines as much as every other: on links that are alike one stands for all. */
  readonly alike: boolean
  /** Why these settings cannot be used with this size; undefined when they can. */
  refuses(size: number, settings: Settings): string | undefined
  /** All settings that make sense for this size: what the tuner prices and the proof runs over. */
  variants(size: number): readonly Settings[]
  /** Every rank ends with the same bits, whatever the operator's rounding (equal operand trees up to x+y = y+x). */
  identical(size: number, settings: Settings): boolean
  /**
   * The operands of every result stand in rank order: right for operators that do not commute, whatever the
   * restrictions say of the algorithm in general.
   */
  ordered(size: number, settings: Settings): boolean
  shape(size: number, settings: Settings): ScheduleShape
  /** One rank's part, in O(its own sends). */
  part(size: number, settings: Settings, rank: number): RankSchedule
}
