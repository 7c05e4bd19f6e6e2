/** From what a call asks for to what runs: one operator on elements of one type. */
import { ArgumentError } from '../base/errors.ts'
import type { DType, DTypeInfo, NumericArray } from './dtype.ts'
import { checkIdentity, combineOf, type Fold, recordOf } from './fold.ts'
import { halfOf } from './half.ts'
import { type Combine, type KernelName, kernels } from './kernels.ts'
import { type OperatorName, operatorNames, requireAdmitted } from './operator.ts'
import { simdKernel } from './simd.ts'

export interface Operator {
  /** Calls with different names do not meet. */
  readonly name: string
  readonly combine: Combine
  readonly commutative: boolean
  /** A contribution may be counted twice. */
  readonly idempotent: boolean
  /** The last bits of the result depend on how the operands are grouped. */
  readonly rounds: boolean
  /** Elements that are combined as one. */
  readonly record: number
  /** Turns the fold of `size` contributions into the result, in place. */
  finish?(result: NumericArray, size: number): void
}

/**
 * @throws UnsupportedError for an operator that the type does not admit
 * @throws ArgumentError for one that does not exist, and for a fold whose identity is none for the first element of `data`
 */
export function resolveOperator(op: OperatorName | Fold, dtype: DTypeInfo, data?: NumericArray): Operator {
  if (typeof op === 'object' && op !== null) return resolveFold(op, dtype, data)
  if (!operatorNames.includes(op))
    throw new ArgumentError('op', `Unknown operator '${op}'. Use one of: ${operatorNames.join(', ')}.`)
  requireAdmitted(dtype.name, op)
  const isExact = op !== 'sum' && op !== 'mean' && op !== 'prod'
  return {
    name: op,
    combine: kernelOf(dtype.name, op === 'mean' ? 'sum' : op),
    commutative: true,
    idempotent: isExact && op !== 'bxor',
    rounds: dtype.isFloat && !isExact,
    record: 1,
    ...(op === 'mean' && { finish: divisionOf(dtype) }),
  }
}

/** The fastest there is for an admitted pair. */
export function kernelOf(dtype: DType, name: KernelName): Combine {
  return simdKernel(dtype, name) ?? kernels[dtype][name]!
}

function resolveFold(fold: Fold, dtype: DTypeInfo, data: NumericArray | undefined): Operator {
  const combine = combineOf(fold, dtype)
  if (data) checkIdentity(fold, dtype, data)
  const commutative = fold.commutative ?? false
  const record = recordOf(fold)
  return {
    name: `fold ${fold.name ?? ''}${commutative ? ' (commutative)' : ''}${record > 1 ? ` of ${record}` : ''}`,
    combine,
    commutative,
    idempotent: false,
    rounds: dtype.isFloat,
    record,
  }
}

/** Division by the number of contributions: rounded once for floats, cut towards zero for integers. */
function divisionOf({ name }: DTypeInfo): (result: NumericArray, size: number) => void {
  const half = halfOf(name)
  return (result, size) => {
    if (result instanceof BigInt64Array || result instanceof BigUint64Array) {
      const divisor = BigInt(size)
      for (let i = 0; i < result.length; i++) result[i] = result[i]! / divisor
    } else if (half)
      for (let i = 0; i < result.length; i++) result[i] = half.toWord(half.toNumber(result[i]!) / size)
    else for (let i = 0; i < result.length; i++) result[i] = result[i]! / size
  }
}
