/** What is measured for each size: the algorithms of the plan, each with the r that it asks for, and what they are compared with. */
import { ArgumentError } from '../base/errors.ts'
import type { Consistency } from '../collective/types.ts'
import { algorithms } from '../schedule/registry.ts'
import type { Algorithm, Collective, Settings } from '../schedule/types.ts'
import type { OperatorName } from '../wire/operator.ts'
import type { Baseline, BenchPlan } from './plan.ts'

export interface Variant {
  /** As asked for: `auto`, `butterfly r=1`. */
  readonly label: string
  /** What a call takes. Raw channels take the traffic of the variant `of` instead. */
  readonly options: {
    readonly algorithm: string
    readonly r?: number | 'auto'
    readonly settings?: Settings
    readonly consistency: Consistency
  }
  readonly baseline: Baseline | undefined
  /** Of raw channels: place of the variant whose bytes they carry. */
  readonly of: number | undefined
}

/** Parameters that are left to the choice unless the plan sets them, beside r. */
const open: readonly string[] = ['ports', 'window', 'segments', 'pieces']

/** By collective: the schedule that goes by this name. */
const stars: Partial<Record<Collective, string>> = {
  allreduce: 'star',
  reduce: 'flat',
  broadcast: 'flat',
  gather: 'flat',
  scatter: 'flat',
}
const meshes: Partial<Record<Collective, string>> = {
  allreduce: 'one-shot',
  reduceScatter: 'direct',
  allgather: 'direct',
  alltoall: 'direct',
  barrier: 'direct',
}

/** @throws ArgumentError for what does not exist, or not for so many ranks */
export function variantsOf(plan: BenchPlan, size: number, op: OperatorName | undefined): Variant[] {
  const { collective } = plan
  const known = algorithms.filter((algorithm) => algorithm.collective === collective)
  const asked = plan.algorithms.flatMap((text) =>
    text === 'all'
      ? known.flatMap((algorithm) =>
          settingsOf(algorithm, {}, plan, size).filter(isAdmitted(algorithm, size, op)),
        )
      : settingsOf(find(known, text, collective), readSettings(text), plan, size),
  )
  const named = (baseline: Baseline, name: string | undefined): Variant => {
    if (name === undefined)
      throw new ArgumentError('baselines', `There is no baseline ${baseline} of ${collective}.`)
    return { label: name, options: { algorithm: name, consistency: 'fast' }, baseline, of: undefined }
  }
  const others = plan.baselines.flatMap((baseline): Variant[] =>
    baseline === 'raw' ? [] : [named(baseline, (baseline === 'star' ? stars : meshes)[collective])],
  )
  const distinct = new Map<string, Variant>()
  for (const options of asked) {
    const label = labelOf(options)
    const baseline = others.find((other) => other.label === label)?.baseline
    distinct.set(label, { label, options, baseline, of: undefined })
  }
  for (const other of others) if (!distinct.has(other.label)) distinct.set(other.label, other)
  const variants = [...distinct.values()]
  if (variants.length === 0)
    throw new ArgumentError('algorithms', `No ${collective} algorithm works for ${size} ranks.`)
  if (!plan.baselines.includes('raw') || size === 1) return variants
  return [
    ...variants,
    ...variants.flatMap(({ label, options, baseline }, of): Variant[] =>
      baseline ? [] : [{ label: `raw (${label})`, options, baseline: 'raw', of }],
    ),
  ]
}

function find(known: readonly Algorithm[], text: string, collective: Collective): Algorithm | undefined {
  const [name] = text.split(':', 1)
  if (name === 'auto') return undefined
  const found = known.find((algorithm) => algorithm.name === name)
  if (found) return found
  const names = known.map((algorithm) => algorithm.name).join(', ')
  throw new ArgumentError(
    'algorithms',
    `There is no ${collective} algorithm "${name}". Use auto, all, or one of: ${names}.`,
  )
}

/** `butterfly:r=1,group=xor` */
function readSettings(text: string): Settings {
  const [name, list] = text.split(':', 2)
  const pairs = (list ? list.split(',') : []).map((pair) => {
    const [key, value] = pair.split('=', 2)
    if (!key || !value)
      throw new ArgumentError(
        'algorithms',
        `Settings are written as ${name}:key=value,key=value, not ${text}.`,
      )
    return [key, Number.isNaN(Number(value)) ? value : Number(value)] as const
  })
  return Object.fromEntries(pairs)
}

/**
 * Undefined is the choice among all. Only what has an r can have steps removed. What is asked for by name and r runs as it is; the choice
 * keeps to what the plan wants of the bits.
 */
function settingsOf(
  algorithm: Algorithm | undefined,
  given: Settings,
  { stepsRemoved, consistency }: BenchPlan,
  size: number,
): Variant['options'][] {
  if (!algorithm) {
    const options = { algorithm: 'auto', consistency }
    if (stepsRemoved === undefined) return [options]
    if (stepsRemoved === 'auto') return [{ ...options, r: 'auto' }]
    const most = Math.ceil(Math.log2(Math.max(1, size)))
    const all = Array.from({ length: most + 1 }, (_, r) => r)
    const values = stepsRemoved === 'all' ? all : [stepsRemoved]
    return values.map((r) => ({ algorithm: 'auto', r, consistency: 'fast' }))
  }
  const { name, parameters } = algorithm
  const free = parameters
    .filter((parameter) => open.includes(parameter.name) && parameter.values(size).length > 0)
    .map((parameter) => [parameter.name, 'auto'] as const)
  const { r: fixed, ...others } = given
  const values = parameters.find((parameter) => parameter.name === 'r')?.values(size)
  const settings = {
    ...Object.fromEntries(free),
    ...others,
    ...(!values && fixed !== undefined && { r: fixed }),
  }
  const options = { algorithm: name, ...(Object.keys(settings).length > 0 && { settings }) }
  if (!values) return [{ ...options, consistency: 'fast' }]
  const r = fixed ?? stepsRemoved ?? 'auto'
  if (r === 'auto') return [{ ...options, r, consistency }]
  return (r === 'all' ? values : [r]).map((value) => ({ ...options, r: Number(value), consistency: 'fast' }))
}

const idempotent: readonly (OperatorName | undefined)[] = ['min', 'max', 'band', 'bor']

/** Whether one of all is left in. */
function isAdmitted(
  algorithm: Algorithm,
  size: number,
  op: OperatorName | undefined,
): (options: Variant['options']) => boolean {
  if (algorithm.restrictions.idempotent && algorithm.collective !== 'barrier' && !idempotent.includes(op))
    return () => false
  return ({ r, settings }) => {
    const given: Settings = { ...settings, ...(r !== undefined && { r }) }
    const complete = algorithm.parameters.flatMap(({ name, values }) => {
      const value = given[name] === 'auto' || given[name] === undefined ? values(size)[0] : given[name]
      return value === undefined ? [] : [[name, value] as const]
    })
    return algorithm.refuses(size, Object.fromEntries(complete)) === undefined
  }
}

/** What is left to the choice is not said. */
function labelOf({ algorithm, r, settings }: Variant['options']): string {
  const set = Object.entries({ ...settings, ...(r !== undefined && { r }) }).filter(
    ([, value]) => value !== 'auto',
  )
  return [algorithm, ...set.map(([name, value]) => `${name}=${value}`)].join(' ')
}
