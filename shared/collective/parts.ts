/**
 * What a rank brings into each collective whose ranks play different parts, and what it takes out. The schedules say which chunks a rank has at the
 * start and which at the end (schedule/collectives.ts); here they get their lengths.
 */
import { ArgumentError, PeerLostError, type PeerName, UnsupportedError } from '../base/errors.ts'
import type { Collective } from '../schedule/types.ts'
import { type Codec, codecOf, type FloatArray } from '../wire/codec.ts'
import { type DTypeInfo, dtypeOf, type NumericArray, type VectorArray, wordsOf } from '../wire/dtype.ts'
import type { Fold } from '../wire/fold.ts'
import type { OperatorName } from '../wire/operator.ts'
import { type Operator, resolveOperator } from '../wire/resolve.ts'
import type { Contribution, Vector } from './calls.ts'
import { ownTypeOf, requireRecords, requireWire, wholeBlocks } from './contribution.ts'
import { screen } from './nonFinite.ts'
import { isFolded, isRooted, totalOf } from './plan.ts'
import type { Attempt } from './recovery.ts'
import type { GatherOptions, ReduceOptions } from './types.ts'

export type PartedCollective = Exclude<Collective, 'allreduce' | 'barrier'>

type Options<T extends VectorArray> = Pick<
  ReduceOptions<T> & GatherOptions<T>,
  'op' | 'dtype' | 'nonFinite' | 'wire' | 'feedback' | 'into' | 'root' | 'counts'
>

export interface Parted<T> {
  readonly contribution: Contribution
  /** The caller's array, undefined on a rank that gets nothing. `isKept`: the result is needed as it is for other ranks. */
  take(contributors: number, isKept: (result: NumericArray) => boolean): T | undefined
  /** The call has failed. */
  drop(): void
}

/** Moves elements as they are. */
const moving: Operator = {
  name: '',
  combine: () => {},
  commutative: true,
  idempotent: true,
  rounds: false,
  record: 1,
}

/** Throws ArgumentError and UnsupportedError before anything is sent. */
export function takePart<T extends VectorArray>(
  collective: PartedCollective,
  data: T,
  options: Options<T>,
): Parted<T> {
  const dtype = dtypeOf(data, options.dtype)
  const given = wordsOf(data)
  const { into, nonFinite, feedback } = options
  if (into && into[Symbol.toStringTag] !== data[Symbol.toStringTag])
    throw new ArgumentError('into', `Pass a ${data[Symbol.toStringTag]}, like the data.`)
  const isCombined = isFolded(collective)
  const op = (options.op ?? 'sum') as OperatorName | Fold
  const operator = isCombined ? resolveOperator(op, dtype, given) : moving
  requireRecords(given, operator)
  const { words, note } = screen(given, dtype, op, isCombined ? nonFinite : 'allow')
  const codec = codecOf(options.wire, dtype.name, isCombined ? operator.name : undefined)
  if (feedback && !isCombined)
    throw new UnsupportedError(
      `feedback of ${collective}`,
      `A ${collective} rounds each value once and adds up no errors: leave feedback away.`,
    )
  requireWire(codec, feedback)
  // One vector of all ranks can be filled up with zeros; parts are as they are.
  const isWhole = collective === 'broadcast' || collective === 'reduce'
  const own = isWhole ? wholeBlocks(words, dtype, codec?.block ?? 1) : words
  const call: Call = {
    collective,
    dtype,
    words: own,
    count: words.length,
    operator,
    codec,
    counts: options.counts,
  }
  const findRoot = isRooted(collective) ? createRoot(options.root ?? 0) : undefined
  const input = feedback?.borrow(own as FloatArray)
  const residual = input && (dtype.create(input.length) as FloatArray)
  const lengthOf = ({ nothing, result }: Vector) => (isWhole && !nothing ? words.length : result.length)
  let last: Vector | undefined
  return {
    contribution: {
      isAlike: collective === 'broadcast',
      vectorOf(attempt) {
        last = {
          ...vectorOf(call, attempt, findRoot?.(attempt)),
          ...(input && { data: input, residual }),
          ...(nonFinite && note !== undefined && { nonFinite: { policy: nonFinite, note } }),
        }
        const length = lengthOf(last)
        if (into && into.length !== length)
          throw new ArgumentError('into', `This rank gets ${length} elements, not ${into.length}.`)
        return last
      },
    },
    drop: () => feedback?.give(undefined),
    take(contributors, isKept) {
      feedback?.give(residual)
      if (!last || last.nothing) return undefined
      const { result } = last
      const length = lengthOf(last)
      const out =
        (into && wordsOf(into)) ?? (isKept(result) || length < result.length ? dtype.create(length) : result)
      if (out !== result) out.set(result.subarray(0, length) as never)
      operator.finish?.(out, contributors)
      return into ?? ownTypeOf(data, out)
    },
  }
}

/** The rank of the root in each attempt: a member, whatever its rank has become. */
function createRoot(root: number | string): (attempt: Attempt) => number {
  let known: PeerName | undefined
  return ({ members, epoch }) => {
    const rank = members.findIndex(({ peerId }, place) =>
      known ? peerId === known.peerId : peerId === root || place === root,
    )
    if (rank < 0 && known)
      throw new PeerLostError(`${known.name}, the root of the op, left.`, {
        peer: known,
        epoch,
      })
    if (rank < 0)
      throw new ArgumentError(
        'root',
        `There is no rank or peer ${root} among ${members.length} members. Pass a rank from 0 to ${members.length - 1}, or a peerId.`,
      )
    const { peerId, name } = members[rank]!
    known = { rank, peerId, name }
    return rank
  }
}

interface Call {
  readonly collective: PartedCollective
  readonly dtype: DTypeInfo
  /** Whole blocks of the codec. */
  readonly words: NumericArray
  /** Elements that the caller has passed. */
  readonly count: number
  readonly operator: Operator
  readonly codec: Codec | undefined
  readonly counts: readonly number[] | undefined
}

function vectorOf(call: Call, { rank, members }: Attempt, root: number | undefined): Vector {
  const { collective, dtype, words, operator, codec } = call
  const size = members.length
  const own = words.length
  const isRoot = rank === root
  const none = dtype.create(0)
  const common = {
    collective,
    dtype,
    operator,
    codec,
    count: call.count,
    total: totalOf(collective, own, size),
    ...(root !== undefined && { root }),
  }
  switch (collective) {
    case 'broadcast':
      return { ...common, data: isRoot ? words : none, result: dtype.create(own) }
    case 'reduce':
      return { ...common, data: words, ...resultOf(dtype, isRoot, own) }
    case 'alltoall':
      if (own % size !== 0)
        throw new ArgumentError('data', `Pass ${size} equal blocks: ${own} elements cannot be parted so.`)
      requireBlocks(codec, [own / size])
      return { ...common, data: words, result: dtype.create(own) }
    case 'allgather':
    case 'gather': {
      const bounds = call.counts && boundsOf(call.counts, size)
      if (call.counts && call.counts[rank] !== own)
        throw new ArgumentError(
          'counts',
          `counts[${rank}] is ${call.counts[rank]}, but the data has ${own} elements.`,
        )
      requireBlocks(codec, call.counts ?? [own])
      const total = bounds?.[size] ?? common.total
      return {
        ...common,
        ...(bounds && { bounds, count: total, total }),
        data: words,
        ...resultOf(dtype, collective === 'allgather' || isRoot, total),
      }
    }
    case 'scatter':
    case 'reduceScatter': {
      const bounds = call.counts
        ? boundsOf(call.counts, size)
        : evenBounds(own, size, codec?.block ?? operator.record)
      if (bounds[size] !== own)
        throw new ArgumentError(
          'counts',
          `The counts sum up to ${bounds[size]}, but the data has ${own} elements.`,
        )
      requireBlocks(codec, call.counts ?? [own])
      if (bounds.some((bound) => bound % operator.record !== 0))
        throw new ArgumentError('counts', `Count whole records of ${operator.record} elements.`)
      return {
        ...common,
        ...(call.counts && { bounds }),
        data: collective === 'reduceScatter' || isRoot ? words : none,
        result: dtype.create(bounds[rank + 1]! - bounds[rank]!),
      }
    }
  }
}

function requireBlocks(codec: Codec | undefined, lengths: readonly number[]): void {
  const wrong = codec && lengths.find((length) => length % codec.block !== 0)
  if (wrong === undefined) return
  throw new ArgumentError(
    'wire',
    `${codec!.name} packs ${codec!.block} elements together, and a part of ${wrong} elements is no multiple of that. Pass whole blocks, or another wire.`,
  )
}

const resultOf = (dtype: DTypeInfo, isGiven: boolean, length: number) =>
  isGiven ? { result: dtype.create(length) } : { result: dtype.create(0), nothing: true }

function boundsOf(counts: readonly number[], size: number): number[] {
  if (counts.length !== size)
    throw new ArgumentError('counts', `Pass one count for each of ${size} ranks, not ${counts.length}.`)
  const bounds = [0]
  for (const count of counts) {
    if (!Number.isSafeInteger(count) || count < 0)
      throw new ArgumentError('counts', `Pass whole numbers that are not negative, not ${count}.`)
    bounds.push(bounds.at(-1)! + count)
  }
  return bounds
}

/** As the schedule cuts a vector of `count` elements into one chunk for each rank. */
function evenBounds(count: number, size: number, record: number): number[] {
  const records = count / record
  return Array.from({ length: size + 1 }, (_, rank) => Math.floor((rank * records) / size) * record)
}
