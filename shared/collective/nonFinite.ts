/**
 * NaN and infinities in what a rank brings into a fold. A rank looks at its own data when it makes the call and notes how many values are no
 * finite numbers; all ranks learn all notes in the op itself (notes.ts), so all decide alike, and before anybody gets a result.
 */
import { ArgumentError, NonFiniteError, UnsupportedError } from '../base/errors.ts'
import type { DTypeInfo, NumericArray } from '../wire/dtype.ts'
import { countNonFinite } from '../wire/finite.ts'
import type { Fold } from '../wire/fold.ts'
import { halfOf } from '../wire/half.ts'
import type { OperatorName } from '../wire/operator.ts'
import type { NonFinitePolicy, Report } from './types.ts'

export interface Screened {
  /** What the rank brings in: its data, or what changes nothing in the result. */
  readonly words: NumericArray
  readonly isDropped: boolean
  /** Values that are not finite, for all ranks to know; absent when nobody asks. */
  readonly note?: number
}

const policies: readonly NonFinitePolicy[] = ['error', 'drop-rank', 'allow']

/** Throws ArgumentError for a policy that does not exist, UnsupportedError for a fold from which nobody can be left out. */
export function screen(
  words: NumericArray,
  dtype: DTypeInfo,
  op: OperatorName | Fold,
  policy: NonFinitePolicy = 'allow',
): Screened {
  if (!policies.includes(policy))
    throw new ArgumentError('nonFinite', `Pass one of ${policies.join(', ')}, not '${policy}'.`)
  if (policy === 'allow' || !dtype.isFloat) return { words, isDropped: false }
  const neutral = policy === 'drop-rank' ? neutralOf(op) : []
  const note = countNonFinite(words, dtype.name)
  const isDropped = policy === 'drop-rank' && note > 0
  return { words: isDropped ? repeat(neutral, dtype, words.length) : words, isDropped, note }
}

const neutrals: Partial<Record<OperatorName, number>> = {
  sum: 0,
  mean: 0,
  prod: 1,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
}

/** A record that changes nothing in the result. */
function neutralOf(op: OperatorName | Fold): readonly (number | bigint)[] {
  const neutral = typeof op === 'object' ? op.identity : neutrals[op]
  if (neutral !== undefined) return typeof neutral === 'object' ? neutral : [neutral]
  throw new UnsupportedError(
    'drop-rank without an identity',
    "Nobody can be left out of a fold without an identity. Give it one, or pass nonFinite: 'error'.",
  )
}

function repeat(record: readonly (number | bigint)[], dtype: DTypeInfo, length: number): NumericArray {
  const half = halfOf(dtype.name)
  const filled = dtype.create(length)
  for (let i = 0; i < length; i++) {
    const value = Number(record[i % record.length])
    filled[i] = half ? half.toWord(value) : value
  }
  return filled
}

/**
 * The report without those whose data were left out.
 * @throws {NonFiniteError} on all ranks alike: the policy is `error`, or nobody's data is finite
 */
export function judge(report: Report, notes: Uint32Array | undefined, policy?: NonFinitePolicy): Report {
  const isBad = (rank: number) => (notes?.[rank] ?? 0) > 0
  const { contributors } = report
  const dropped = contributors.filter((_, rank) => isBad(rank))
  if (dropped.length === 0) return report
  if (policy === 'drop-rank' && dropped.length < contributors.length)
    return { ...report, contributors: contributors.filter((_, rank) => !isBad(rank)), dropped }
  const peers = contributors.flatMap(({ peerId, name }, rank) =>
    isBad(rank) ? [{ rank, peerId, name }] : [],
  )
  throw new NonFiniteError(peers, Object.fromEntries(peers.map(({ rank }) => [rank, notes![rank]!])))
}
