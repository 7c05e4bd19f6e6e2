/** What a run is: one vector, some variants of the algorithm, some repeats. The same on all ranks. */
import * as v from 'valibot'
import type { Prng } from '../../shared/base/prng.ts'
import type { Settings } from '../../shared/schedule/types.ts'
import { type DType, dtypes } from '../../shared/wire/dtype.ts'
import { admitted, type OperatorName } from '../../shared/wire/operator.ts'

/** Largest vector that the page offers: seven peers in one page then hold about 2 GiB. */
export const maxBytes = 64 * 1024 * 1024
export const maxRepeats = 100

export const variantSchema = v.object({
  /** Name in the registry, or `auto`. */
  algorithm: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9-]{1,40}$/)),
  /** Steps removed, for the butterfly. */
  r: v.optional(v.union([v.literal('auto'), v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(32))])),
  /** Other parameters of the algorithm: group, ports, window. */
  settings: v.optional(
    v.record(
      v.pipe(v.string(), v.regex(/^[a-zA-Z]{1,20}$/)),
      v.union([v.pipe(v.number(), v.finite()), v.pipe(v.string(), v.maxLength(40))]),
    ),
  ),
})
export type Variant = v.InferOutput<typeof variantSchema>

/** Types and operators that the page offers; the library has more (docs/numbers.md). */
export const shownTypes = ['f32', 'f64', 'f16', 'bf16', 'i32', 'i64', 'u8'] as const
export const shownOperators = ['sum', 'mean', 'min', 'max', 'prod'] as const

/** Whether the page offers the pair: products of these floats would overflow, or end at 0. */
export function isOffered(dtype: DType, op: OperatorName): boolean {
  return admitted[dtype].includes(op) && !(op === 'prod' && dtypes[dtype].isFloat)
}

const runSpecFields = v.object({
  /** Bytes asked for; the vector has the elements that fit in whole. */
  bytes: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(maxBytes)),
  dtype: v.picklist(shownTypes),
  op: v.picklist(shownOperators),
  consistency: v.picklist(['identical', 'fast']),
  data: v.picklist(['whole', 'real']),
  /** Measured repeats of each variant, after `warmup` unmeasured ones. */
  repeats: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maxRepeats)),
  warmup: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)),
  variants: v.pipe(v.array(variantSchema), v.minLength(1), v.maxLength(64)),
})
export const runSpecSchema = v.pipe(
  runSpecFields,
  v.check(({ dtype, op }) => isOffered(dtype, op), 'There is no such operator for this type.'),
)
export type RunSpec = v.InferOutput<typeof runSpecSchema>

export function countOf(spec: { readonly bytes: number; readonly dtype: DType }): number {
  return Math.floor(spec.bytes / dtypes[spec.dtype].bytes)
}

/** For runs and requests: unlikely to be drawn twice in one room. */
export function createId(prng: Prng): string {
  const digits = () =>
    prng
      .below(36 ** 4)
      .toString(36)
      .padStart(4, '0')
  return digits() + digits() + digits()
}

export interface Call {
  readonly variant: number
  /** From 0 on, among the warm-ups or among the measured ones. */
  readonly repeat: number
  readonly isWarmup: boolean
  /** The last repeat of its variant: the result is kept and compared. */
  readonly isLast: boolean
}

export function callsOf(spec: RunSpec): number {
  return (spec.warmup + spec.repeats) * spec.variants.length
}

/** Variants take turns, so that a change of the network meets all of them alike. */
export function callAt(spec: RunSpec, index: number): Call {
  const round = Math.floor(index / spec.variants.length)
  const isWarmup = round < spec.warmup
  return {
    variant: index % spec.variants.length,
    repeat: isWarmup ? round : round - spec.warmup,
    isWarmup,
    isLast: round === spec.warmup + spec.repeats - 1,
  }
}

/** The options that a variant hands to `allreduce` and `predict`. */
export function optionsOf(variant: Variant): {
  algorithm: string
  r?: number | 'auto'
  settings?: Settings
} {
  const { algorithm, r, settings } = variant
  return {
    algorithm,
    ...(r === undefined ? {} : { r }),
    ...(settings === undefined ? {} : { settings }),
  }
}

/** Slow links must not look like lost peers: 10 s, and the time that 2 P m bytes take at 10 MB/s. */
export function timeoutOf(spec: RunSpec, size: number): number {
  return 10_000 + (2 * size * spec.bytes) / 10_000
}
