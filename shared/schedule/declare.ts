/** What the algorithms outside the butterfly family have in common: how settings are checked and variants listed. */
import type { Algorithm, Parameter, ScheduleShape, Settings } from './types.ts'

export interface Declaration
  extends Pick<Algorithm, 'name' | 'title' | 'collective' | 'source' | 'restrictions' | 'part'> {
  readonly parameters?: readonly Parameter[]
  /** Default: no, as for `alike`. */
  readonly baseline?: boolean
  readonly alike?: boolean
  /** Default: yes. One rank computes each result and the others copy it, or all fold in the same order. */
  readonly identical?: Algorithm['identical']
  /** Default: when the restrictions do not ask for commutativity. */
  readonly ordered?: Algorithm['ordered']
  /** Default: a value that a parameter does not allow. */
  readonly refuses?: Algorithm['refuses']
  /** Default: every value of every parameter, but of the root, which the caller names, only rank 0. */
  readonly variants?: Algorithm['variants']
  steps(size: number, settings: Settings): number
  chunks(size: number, settings: Settings): number
  cuts?(size: number, settings: Settings): readonly number[]
}

/** The rank that owns the input or the result. */
export const rootParameter: Parameter = {
  name: 'root',
  description: 'Rank that owns the input or the result',
  values: (size) => range(0, size),
}

export function declare(declaration: Declaration): Algorithm {
  const { name, title, collective, source, restrictions, part, cuts } = declaration
  const parameters = declaration.parameters ?? []
  const rooted = parameters.includes(rootParameter)
  return {
    name,
    title,
    collective,
    source,
    parameters,
    restrictions,
    baseline: declaration.baseline ?? false,
    alike: declaration.alike ?? false,
    refuses: declaration.refuses ?? ((size, settings) => refuseValues(parameters, size, settings)),
    variants: declaration.variants ?? ((size) => allSettings(parameters, size)),
    identical: declaration.identical ?? (() => true),
    ordered: declaration.ordered ?? ((size) => size === 1 || !restrictions.commutative),
    shape: (size, settings): ScheduleShape => ({
      collective,
      algorithm: name,
      settings,
      size,
      steps: declaration.steps(size, settings),
      chunks: declaration.chunks(size, settings),
      ...(cuts ? { cuts: cuts(size, settings) } : {}),
      ...(rooted ? { root: Number(settings.root) } : {}),
    }),
    part,
  }
}

/** The first setting that is not among the values of its parameter, in words. */
function refuseValues(
  parameters: readonly Parameter[],
  size: number,
  settings: Settings,
): string | undefined {
  for (const { name, values } of parameters) {
    const allowed = values(size)
    const value = settings[name]
    if (value !== undefined && !allowed.includes(value))
      return `${name} is one of ${allowed.join(', ')}, not ${value}`
  }
  return undefined
}

function allSettings(parameters: readonly Parameter[], size: number): readonly Settings[] {
  return parameters.reduce<readonly Settings[]>(
    (all, parameter) => {
      const values = parameter === rootParameter ? [0] : parameter.values(size)
      return all.flatMap((settings) => values.map((value) => ({ ...settings, [parameter.name]: value })))
    },
    [{}],
  )
}

/** Exact for 1 <= value < 2^31, unlike Math.log2. */
export const ceilLog2 = (value: number): number => 32 - Math.clz32(value - 1)

export const floorLog2 = (value: number): number => 31 - Math.clz32(value)

/** from, from + 1, ..., to - 1. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
