/**
 * What a benchmark measures: plain data, the same on all ranks. It may come from another member of the room, so that the schema also
 * bounds what a rank can be made to allocate and to repeat. Words as in nccl-tests where the meaning is the same.
 */
import * as v from 'valibot'
import { ArgumentError } from '../base/errors.ts'
import { collectives } from '../schedule/collectives.ts'
import { type DType, dtypes } from '../wire/dtype.ts'
import { admitted, type OperatorName, operatorNames } from '../wire/operator.ts'
import { type Amounts, amountsOf, hasOperator, hasRoot } from './amounts.ts'

/** A vector and its result; a rank holds both. */
export const maxBytes = 2 ** 30
const maxSizes = 256
const mostIterations = 100_000

/**
 * What the algorithms are measured beside, in turns with them. `raw`: the bytes that the algorithm has moved over each link, driven over the
 * same channels without anything of ours; `star`: everything through one peer; `send-to-all`: every peer sends all it has to all.
 */
export const baselines = ['raw', 'star', 'send-to-all'] as const
export type Baseline = (typeof baselines)[number]

/** How the times of the ranks become the time of an iteration. `max`: until the last rank is done. */
export const averages = ['rank0', 'avg', 'min', 'max'] as const
export type Average = (typeof averages)[number]

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most))
const oneOf = <const T extends readonly string[]>(names: T) => v.picklist(names)
const listOf = <T extends v.GenericSchema>(schema: T) =>
  v.pipe(v.array(schema), v.minLength(1), v.maxLength(64))
const seconds = v.pipe(v.number(), v.finite(), v.gtValue(0), v.maxValue(86_400))

export const planSchema = v.strictObject({
  collective: v.optional(v.picklist(collectives), 'allreduce'),
  /** Bytes as amounts.ts counts them: of the vector, or of all parts together. */
  minBytes: v.optional(whole(0, maxBytes), 8),
  maxBytes: v.optional(whole(0, maxBytes), 4 * 1024 * 1024),
  /** From size to size: a factor, or bytes to add. */
  step: v.optional(
    v.union([
      v.strictObject({ factor: v.pipe(v.number(), v.finite(), v.gtValue(1)) }),
      v.strictObject({ bytes: whole(1, maxBytes) }),
    ]),
    { factor: 4 },
  ),
  dtypes: v.optional(listOf(oneOf(Object.keys(dtypes) as DType[])), ['f32']),
  ops: v.optional(listOf(oneOf(operatorNames)), ['sum']),
  /** Rank, or every rank in turn. */
  root: v.optional(v.union([whole(0, 4095), v.literal('all')]), 0),
  /** `auto`, `all`, names of the registry, or names with settings: `ports:ports=3`. */
  algorithms: v.optional(listOf(v.pipe(v.string(), v.maxLength(200))), ['auto']),
  /** For the algorithms that have r; `all`: each r is a variant of its own. Default: the best for the size of the vector. */
  stepsRemoved: v.optional(v.union([whole(0, 32), v.picklist(['auto', 'all'])])),
  baselines: v.optional(v.array(oneOf(baselines)), []),
  consistency: v.optional(v.picklist(['identical', 'fast']), 'identical'),
  /** Timed, of each variant and size. */
  iterations: v.optional(whole(1, mostIterations), 20),
  /** Not timed. At least one is made: it shows what an iteration takes. */
  warmup: v.optional(whole(0, mostIterations), 5),
  /** Calls in a row that are timed as one. More where the clock of a rank is too coarse for one call. */
  aggregate: v.optional(whole(1, mostIterations), 1),
  /** Calls whose results are compared with the exact ones, element by element, beside those that are timed; 0: none. */
  check: v.optional(whole(0, mostIterations), 1),
  average: v.optional(v.picklist(averages), 'max'),
  /** Also with the result in the place of the input. */
  inPlace: v.optional(v.boolean(), true),
  /** Everything once more, so often. */
  cycles: v.optional(whole(1, mostIterations), 1),
  /** No more than so long for the timed iterations of one size: there are fewer then. */
  secondsPerSize: v.optional(seconds),
  timeoutSeconds: v.optional(seconds, 60),
  seed: v.optional(whole(0, 2 ** 32 - 1), 1),
  /** Tell what moved when in the last timed call of the last size. */
  trace: v.optional(v.boolean(), false),
})

export type BenchPlan = Readonly<v.InferOutput<typeof planSchema>>
export type BenchRequest = v.InferInput<typeof planSchema>

/** One row of the table for each variant of the algorithm. */
export interface BenchCase {
  readonly dtype: DType
  /** Undefined where nothing is combined. */
  readonly op: OperatorName | undefined
  /** -1 for collectives without one. */
  readonly root: number
  readonly amounts: Amounts
}

/** @throws ArgumentError that names what is wrong */
export function completePlan(request: BenchRequest): BenchPlan {
  const parsed = v.safeParse(planSchema, request)
  if (!parsed.success) {
    const [issue] = parsed.issues
    throw new ArgumentError(
      'plan',
      `This is no benchmark: ${v.getDotPath(issue) ?? 'plan'}: ${issue.message}`,
    )
  }
  sizesOf(parsed.output)
  return parsed.output
}

/** @throws ArgumentError when there are none, or far too many */
export function sizesOf({ minBytes, maxBytes: last, step }: BenchPlan): number[] {
  if (minBytes > last)
    throw new ArgumentError(
      'minBytes',
      `The smallest size, ${minBytes} bytes, is more than the largest, ${last}.`,
    )
  const sizes: number[] = []
  for (let bytes = minBytes; bytes <= last; bytes = after(bytes, step)) {
    if (sizes.push(bytes) > maxSizes)
      throw new ArgumentError(
        'step',
        `From ${minBytes} to ${last} bytes these are more than ${maxSizes} sizes. Take a larger step.`,
      )
  }
  return sizes
}

function after(bytes: number, step: BenchPlan['step']): number {
  if ('bytes' in step) return bytes + step.bytes
  return Math.max(bytes + 1, Math.floor(bytes * step.factor))
}

/** In the order of nccl-tests: element types, operators, roots, sizes. */
export function casesOf(plan: BenchPlan, size: number): BenchCase[] {
  const { collective } = plan
  if (collective === 'barrier')
    return [{ dtype: 'u8', op: undefined, root: -1, amounts: amountsOf(collective, 0, 1, size) }]
  if (typeof plan.root === 'number' && plan.root >= size && hasRoot(collective))
    throw new ArgumentError('root', `There is no rank ${plan.root} among ${size}.`)
  const roots = !hasRoot(collective)
    ? [-1]
    : plan.root === 'all'
      ? Array.from({ length: size }, (_, rank) => rank)
      : [plan.root]
  const pairs = plan.dtypes.flatMap((dtype): Pick<BenchCase, 'dtype' | 'op'>[] =>
    hasOperator(collective)
      ? plan.ops.filter((op) => admitted[dtype].includes(op)).map((op) => ({ dtype, op }))
      : [{ dtype, op: undefined }],
  )
  if (pairs.length === 0)
    throw new ArgumentError('op', `There is no ${plan.ops.join(', ')} of ${plan.dtypes.join(', ')}.`)
  return pairs.flatMap(({ dtype, op }) =>
    roots.flatMap((root) => {
      const all = sizesOf(plan).map((bytes) => amountsOf(collective, bytes, dtypes[dtype].bytes, size))
      // Sizes below one element for each rank are one and the same.
      const distinct = all.filter(({ bytes }, at) => bytes !== all[at - 1]?.bytes)
      return distinct.map((amounts) => ({ dtype, op, root, amounts }))
    }),
  )
}
