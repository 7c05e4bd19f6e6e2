/**
 * What a tab with peers of a benchmark is asked for and tells whoever has opened it, as text: JSON in which null stands for what is
 * undefined. The tab may be one of another server, so that both sides check what they read.
 */
import * as v from 'valibot'
import { errorCodes } from '../base/errorCodes.ts'
import { ProtocolError } from '../base/errors.ts'
import { limits } from '../signaling/limits.ts'
import { dtypes } from '../wire/dtype.ts'
import { operatorNames } from '../wire/operator.ts'
import type { BenchEvent } from './events.ts'
import { baselines, planSchema } from './plan.ts'

/** The function of the page that takes reports; whoever opens the tab puts it there. */
export const reportFunction = 'papilioReport'
/** The event of the page that ends the benchmark before its next call. */
export const stopEvent = 'papilio-stop'
const orderPrefix = '#peers='

/** A trace of 128 ranks with thousands of messages each. */
const mostText = 2 ** 28

const text = v.pipe(v.string(), v.maxLength(1000))
const number = v.pipe(v.number(), v.finite())
const whole = v.pipe(number, v.integer())
const maybe = <T extends v.GenericSchema>(schema: T) =>
  v.pipe(
    v.nullable(schema),
    v.transform((value): v.InferOutput<T> | undefined => value ?? undefined),
  )
const settings = v.record(text, v.union([number, text]))

const curve = v.strictObject({
  points: v.array(v.strictObject({ bytes: number, seconds: number })),
  alpha: number,
  beta: number,
  residual: number,
  tail: v.exactOptional(number),
  confidence: v.exactOptional(number),
})
const host = { gamma: number, overhead: number, hostBeta: number }
const start = v.strictObject({
  plan: planSchema,
  epoch: whole,
  ranks: v.array(
    v.strictObject({ name: text, kind: text, agent: text, tick: number, paths: v.record(text, number) }),
  ),
  model: v.strictObject({
    ...host,
    version: whole,
    size: whole,
    links: v.array(v.array(maybe(curve))),
    hosts: v.exactOptional(v.array(v.strictObject(host))),
    sharedBeta: v.exactOptional(number),
    sharedOverhead: v.exactOptional(number),
  }),
  cases: whole,
})
const sample = v.strictObject({
  seconds: number,
  algbw: number,
  busbw: number,
  wirebw: number,
  wrong: maybe(whole),
  spread: v.strictObject({
    min: number,
    max: number,
    avg: number,
    p50: number,
    p95: number,
    p99: number,
    stdev: number,
  }),
  times: v.array(number),
  byRank: v.strictObject({ min: number, max: number, avg: number }),
})
const ratios = Object.fromEntries(baselines.map((name) => [name, v.exactOptional(number)])) as Record<
  (typeof baselines)[number],
  v.ExactOptionalSchema<typeof number, undefined>
>
const row = v.strictObject({
  cycle: whole,
  bytes: whole,
  count: whole,
  dtype: v.picklist(Object.keys(dtypes) as (keyof typeof dtypes)[]),
  op: maybe(v.picklist(operatorNames)),
  root: whole,
  label: text,
  baseline: maybe(v.picklist(baselines)),
  algorithm: text,
  settings,
  r: maybe(whole),
  steps: whole,
  bytesSent: number,
  predictedSeconds: maybe(number),
  iterations: whole,
  aggregate: whole,
  outOfPlace: sample,
  inPlace: maybe(sample),
  ratios: v.strictObject(ratios),
})
const message = v.strictObject({
  step: whole,
  direction: v.picklist(['send', 'receive']),
  peer: whole,
  bytes: number,
  begin: number,
  end: number,
})
const op = v.strictObject({
  algorithm: text,
  settings,
  steps: whole,
  ranks: v.array(v.strictObject({ name: text, messages: v.exactOptional(maybe(v.array(message))) })),
})
const eventSchema: v.GenericSchema<unknown, BenchEvent> = v.variant('kind', [
  v.strictObject({ kind: v.literal('start'), start }),
  v.strictObject({
    kind: v.literal('progress'),
    bytes: whole,
    done: whole,
    total: whole,
    sizesDone: whole,
    sizes: whole,
  }),
  v.strictObject({ kind: v.literal('row'), row }),
  v.strictObject({ kind: v.literal('trace'), label: text, bytes: whole, op }),
  v.strictObject({
    kind: v.literal('end'),
    end: v.strictObject({ seconds: number, rows: whole, wrong: whole, averageBusbw: number }),
  }),
])

const reportSchema = v.variant('report', [
  /** The peers of this tab have their seats. */
  v.strictObject({ report: v.literal('seated') }),
  v.strictObject({ report: v.literal('event'), event: eventSchema }),
  /** Over, and the peers of this tab have left. */
  v.strictObject({ report: v.literal('ended') }),
  /** `code`: of an error of Papilio; undefined: of a mistake in it. */
  v.strictObject({ report: v.literal('failed'), code: maybe(v.picklist(errorCodes)), message: text }),
])
export type TabReport = v.InferOutput<typeof reportSchema>

const orderSchema = v.strictObject({
  /** Peers in this tab, and in the room. */
  count: v.pipe(whole, v.minValue(1), v.maxValue(limits.peersPerRoom)),
  size: v.pipe(whole, v.minValue(1), v.maxValue(limits.peersPerRoom)),
  create: v.boolean(),
  plan: planSchema,
})
export type TabOrder = v.InferOutput<typeof orderSchema>

export const writeReport = (report: TabReport): string =>
  JSON.stringify(report, (_, value) => (value === undefined ? null : value))

/** @throws ProtocolError */
export const readReport = (given: string): TabReport => read(reportSchema, given, 'report')

/** The fragment of an address. */
export const writeOrder = (order: TabOrder): string => orderPrefix + encodeURIComponent(JSON.stringify(order))

/** Undefined: the fragment has none. @throws ProtocolError */
export function readOrder(fragment: string): TabOrder | undefined {
  if (!fragment.startsWith(orderPrefix)) return undefined
  let given: string
  try {
    given = decodeURIComponent(fragment.slice(orderPrefix.length))
  } catch (cause) {
    throw new ProtocolError('an order of a benchmark is not encoded as a part of an address', { cause })
  }
  return read(orderSchema, given, 'order')
}

function read<T>(schema: v.GenericSchema<unknown, T>, given: string, what: string): T {
  if (given.length > mostText)
    throw new ProtocolError(`a ${what} of a benchmark has ${given.length} characters`)
  let value: unknown
  try {
    value = JSON.parse(given)
  } catch (cause) {
    throw new ProtocolError(`a ${what} of a benchmark is no JSON`, { cause })
  }
  const parsed = v.safeParse(schema, value)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new ProtocolError(
    `a ${what} of a benchmark is none: ${v.getDotPath(issue) ?? what}: ${issue.message}`,
  )
}
