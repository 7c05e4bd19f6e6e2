import { ArgumentError } from '../base/errors.ts'
import { type Family, type FamilyOptions, isIdentical, isOrdered, planFamily } from './family.ts'
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
  options(size: number, settings: Settings): FamilyOptions | string
  /** Default: the settings that are all default. */
  variants?(size: number): readonly Settings[]
}

const phases = {
  allreduce: 'both',
  reduceScatter: 'reduce',
  allgather: 'distribute',
} as const satisfies Partial<Record<Collective, Phase>>

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
    const { removed = 0 } = options
    const all = planFamily({ ...options, removed: 0 }).stages.length
    if (removed > all) return `r can be 0 .. ${all}, not ${removed}`
    return planFamily(options)
  }
  /** One plan serves all ranks of a schedule, which are made one after the other. */
  let last: { readonly key: string; readonly family: Family } | undefined
  const plan = (size: number, settings: Settings): Family => {
    const key = JSON.stringify([size, settings])
    if (last?.key === key) return last.family
    const family = resolve(size, settings)
    if (typeof family === 'string') throw new ArgumentError('settings', `${name} on ${size} ranks: ${family}`)
    last = { key, family }
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
    refuses(size, settings) {
      const family = resolve(size, complete(size, settings))
      return typeof family === 'string' ? family : undefined
    },
    variants: member.variants ?? ((size) => [complete(size, {})]),
    identical: (size, settings) => isIdentical(plan(size, complete(size, settings))),
    ordered: (size, settings) => !anyOrder || isOrdered(plan(size, complete(size, settings))),
    shape(size, given) {
      const settings = complete(size, given)
      const steps = familySteps(plan(size, settings), phase)
      return { collective, algorithm: name, settings, size, steps, chunks: size }
    },
    part: (size, settings, rank) => familyPart(plan(size, complete(size, settings)), rank, phase),
  }
}
