import { ArgumentError } from '../base/errors.ts'
import {
  type Family,
  type FamilyOptions,
  isIdentical,
  isOrdered,
  planFamily,
  removeStages,
} from './family.ts'
import { familyPart, familySteps, type Phase } from './familyPart.ts'
import type { Algorithm, Collective, Parameter, Settings } from './types.ts'

/** What a member of the butterfly family adds to it: a name, and the options that its settings stand for. */
export interface Member extends Pick<Algorithm, 'name' | 'title' | 'source'> {
  /** Default: allreduce. */
  readonly collective?: keyof typeof phases
  readonly parameters?: readonly Parameter[]
  /** Every pair of ranks is linked, and the fold is in rank order. */
  readonly mesh?: boolean
  /** The options, or the reason why there are none. */
  options(size: number, settings: Settings): MemberOptions | string
  /** Default: the settings that are all default. */
  variants?(size: number): readonly Settings[]
}

const phases = {
  allreduce: 'both',
  reduceScatter: 'reduce',
  allgather: 'distribute',
} as const satisfies Partial<Record<Collective, Phase>>

interface MemberOptions extends FamilyOptions {
  /** r: steps left out of the distribution. Default 0. */
  readonly removed?: number
}

/** Plans kept per algorithm: more than there are variants for any size that is priced. */
const mostPlans = 256

export function createMember(member: Member): Algorithm {
  const { name, title, source, parameters = [], collective = 'allreduce', mesh = false } = member
  const phase = phases[collective]
  const anyOrder = phase !== 'distribute' && !mesh

  const complete = (size: number, given: Settings): Settings => {
    const missing = parameters.filter((parameter) => given[parameter.name] === undefined)
    return { ...given, ...Object.fromEntries(missing.map((p) => [p.name, p.values(size)[0]!])) }
  }
  const resolve = (size: number, settings: Settings): Family | string => {
    for (const parameter of parameters) {
      const value = settings[parameter.name]
      if (
        typeof parameter.values(size)[0] === 'number' &&
        !(Number.isSafeInteger(value) && Number(value) >= 0)
      )
        return `${parameter.name} must be a whole number, not ${value}`
    }
    const options = member.options(size, settings)
    if (typeof options === 'string') return options
    const family = planFamily(options)
    const { removed = 0 } = options
    if (removed > family.stages.length) return `r can be 0 .. ${family.stages.length}, not ${removed}`
    return removeStages(family, removed)
  }
  /** One plan serves all ranks of a schedule, and all questions about it. */
  const plans = new Map<string, Family | string>()
  const tryPlan = (size: number, given: Settings): Family | string => {
    const settings = complete(size, given)
    const key = JSON.stringify([size, settings])
    const known = plans.get(key)
    if (known !== undefined) return known
    const made = resolve(size, settings)
    if (plans.size >= mostPlans) plans.clear()
    plans.set(key, made)
    return made
  }
  const plan = (size: number, settings: Settings): Family => {
    const family = tryPlan(size, settings)
    if (typeof family === 'string') throw new ArgumentError('settings', `${name} on ${size} ranks: ${family}`)
    return family
  }
  return {
    name,
    title,
    collective,
    source,
    parameters,
    restrictions: { commutative: anyOrder, idempotent: false, links: mesh ? 'all' : 'some' },
    baseline: false,
    alike: true,
    refuses(size, settings) {
      const family = tryPlan(size, settings)
      return typeof family === 'string' ? family : undefined
    },
    variants: member.variants ?? ((size) => [complete(size, {})]),
    identical: (size, settings) => isIdentical(plan(size, settings)),
    ordered: (size, settings) => !anyOrder || isOrdered(plan(size, settings)),
    shape(size, given) {
      const settings = complete(size, given)
      const steps = familySteps(plan(size, settings), phase)
      return { collective, algorithm: name, settings, size, steps, chunks: size }
    },
    part: (size, settings, rank) => familyPart(plan(size, settings), rank, phase),
  }
}
