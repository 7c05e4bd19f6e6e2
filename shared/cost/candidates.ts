/**
 * What a call may run: the variants that it leaves open, without those that it forbids and those that are another one
 * under a second name.
 */
import { ArgumentError } from '../base/errors.ts'
import type { Algorithm, Settings } from '../schedule/types.ts'
import { clusterRanks, groupsText } from './cluster.ts'
import type { Compiled } from './compile.ts'
import { labelOf, settingsText } from './explain.ts'
import { keepsToLinks } from './keptLinks.ts'
import { networkOf } from './network.ts'
import { trafficOf } from './predict.ts'
import type { Choice, ChoiceRequest, NetworkModel } from './types.ts'

interface Candidate {
  readonly algorithm: Algorithm
  readonly settings: Settings
}

export interface AdmittedCandidate extends Candidate {
  readonly graph: Compiled
}

export type Refusal = Choice['refused'][number]

export interface Admission {
  readonly admitted: readonly AdmittedCandidate[]
  readonly refused: readonly Refusal[]
}

export const auto = 'auto'

/** @throws ArgumentError when nothing is left; it says what refused each. */
export function findCandidates(
  request: ChoiceRequest,
  model: NetworkModel,
  algorithms: readonly Algorithm[],
): Admission {
  const refused: Refusal[] = []
  const found = groupsText(clusterRanks(model))
  const admitted = candidatesOf(request, found, algorithms).filter(({ algorithm, settings }) => {
    const reason = refusalOf(request, found, algorithm, settings)
    if (reason !== undefined) refused.push({ algorithm: algorithm.name, settings, reason })
    return reason === undefined
  })
  if (admitted.length === 0) throw new ArgumentError('algorithm', nothingLeft(request, refused))
  return { admitted: withoutTwins(request, model, admitted, refused), refused }
}

/** How many variants the call admits, those that are one under several names counted each. Prices nothing. */
export function countAdmitted(
  request: ChoiceRequest,
  model: NetworkModel,
  algorithms: readonly Algorithm[],
): number {
  const found = groupsText(clusterRanks(model))
  const isAdmitted = ({ algorithm, settings }: Candidate) =>
    refusalOf(request, found, algorithm, settings) === undefined
  return candidatesOf(request, found, algorithms).filter(isAdmitted).length
}

/** What the call leaves open: all variants of all algorithms, or the open parameters of the named one. */
function candidatesOf(
  request: ChoiceRequest,
  found: string | undefined,
  algorithms: readonly Algorithm[],
): Candidate[] {
  const { size, collective = 'allreduce', algorithm: name = auto, r } = request
  const given: Settings = { ...request.settings, ...(r !== undefined && { r }) }
  const fixed = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== auto))
  const ofCollective = algorithms.filter((algorithm) => algorithm.collective === collective)
  if (name === auto)
    return ofCollective.flatMap((algorithm) =>
      withFixed(algorithm, withFoundGroups(algorithm, size, found), fixed).map((settings) => ({
        algorithm,
        settings,
      })),
    )
  const named = ofCollective.find((algorithm) => algorithm.name === name)
  if (!named) {
    const names = ofCollective.map((algorithm) => algorithm.name).join(', ')
    throw new ArgumentError(
      'algorithm',
      `There is no ${collective} algorithm "${name}". Use auto or one of: ${names}.`,
    )
  }
  for (const key of Object.keys(given))
    if (!named.parameters.some((parameter) => parameter.name === key))
      throw new ArgumentError(key, `Algorithm ${name} has no parameter ${key}.`)
  return named.parameters
    .reduce<Settings[]>(
      (all, parameter) => {
        const values = parameter.values(size)
        const value = given[parameter.name] ?? values[0]
        const open = value === auto ? values : value === undefined ? [] : [value]
        return open.length === 0
          ? all
          : all.flatMap((settings) => open.map((one) => ({ ...settings, [parameter.name]: one })))
      },
      [{}],
    )
    .map((settings) => ({ algorithm: named, settings }))
}

/**
 * The variants with what the call fixes, whether a variant has it (r, ports) or not (the root, which only the caller
 * knows); none when the algorithm has no such parameter.
 */
function withFixed(
  algorithm: Algorithm,
  variants: readonly Settings[],
  fixed: Settings,
): readonly Settings[] {
  const names = Object.keys(fixed)
  if (names.length === 0) return variants
  const has = (name: string) => algorithm.parameters.some((parameter) => parameter.name === name)
  if (!names.every(has)) return []
  const distinct = variants.map((variant): [string, Settings] => {
    const settings = { ...variant, ...fixed }
    return [settingsText(settings), settings]
  })
  return [...new Map(distinct).values()]
}

/** The variants of an algorithm; one that works in groups of ranks also with the groups that the links suggest. */
function withFoundGroups(
  algorithm: Algorithm,
  size: number,
  groups: string | undefined,
): readonly Settings[] {
  const variants = algorithm.variants(size)
  if (!algorithm.parameters.some(({ name }) => name === 'groups')) return variants
  return groups === undefined
    ? variants
    : [...variants, ...variants.map((settings) => ({ ...settings, groups }))]
}

/**
 * On links that are alike, schedules that are one under several names, or whose ranks do the same, only with others: the
 * first of them stands for all, if possible one that gives all ranks the same bits. The others are listed as refused.
 * What the call names is never left out.
 */
function withoutTwins(
  request: ChoiceRequest,
  model: NetworkModel,
  admitted: readonly Candidate[],
  refused: Refusal[],
): AdmittedCandidate[] {
  const { size, algorithm: name = auto } = request
  const compared = admitted.map((candidate) => ({
    ...candidate,
    graph: trafficOf(candidate.algorithm, size, candidate.settings),
  }))
  // Where links differ, search.ts looks for twins among those that come near: who all their peers are takes long to ask.
  if (name !== auto || !networkOf(model).isAlike) return compared
  const isIdentical = (candidate: AdmittedCandidate) =>
    candidate.algorithm.identical(size, candidate.settings)
  const first = new Map<string, AdmittedCandidate>()
  for (const candidate of compared) {
    const { kind } = candidate.graph
    const known = kind && first.get(kind)
    if (kind && (!known || (!isIdentical(known) && isIdentical(candidate)))) first.set(kind, candidate)
  }
  return compared.filter((candidate) => {
    const original = first.get(candidate.graph.kind ?? '')
    if (!original || original === candidate) return true
    refused.push(refusedTwin(candidate, original))
    return false
  })
}

export function refusedTwin({ algorithm, settings }: Candidate, original: Candidate): Refusal {
  const label = labelOf({ algorithm: original.algorithm.name, settings: original.settings })
  return { algorithm: algorithm.name, settings, reason: `Every rank does the same as with ${label}.` }
}

/** Why the call does not admit a candidate; undefined when it does. */
function refusalOf(
  request: ChoiceRequest,
  found: string | undefined,
  algorithm: Algorithm,
  settings: Settings,
): string | undefined {
  const { size, bytes, algorithm: name = auto, consistency, rounds, memoryBytes } = request
  const { restrictions } = algorithm
  if (name === auto && algorithm.baseline) return 'A baseline: measured and drawn, never proposed.'
  const isGiven = request.settings?.groups !== undefined
  if (name === auto && settings.groups !== undefined && settings.groups !== found && !isGiven)
    return 'Groups pay only where a gap between the links parts the ranks: not here.'
  const reason = algorithm.refuses(size, settings)
  if (reason !== undefined) return reason
  if (!request.commutative && !algorithm.ordered(size, settings))
    return 'It combines in another order than that of the ranks, and the operator is not commutative.'
  if (restrictions.idempotent && !request.idempotent)
    return 'It counts contributions more than once, which only min, max and the like allow.'
  if (restrictions.links === 'all' && (request.links ?? 'all') !== 'all')
    return 'It needs a link between every two ranks.'
  if (consistency === 'identical' && rounds && !algorithm.identical(size, settings))
    return "Ranks may differ in the last bits of a float result; consistency 'fast' admits it."
  if (request.once && !combinesOnce(algorithm, size, settings))
    return 'It combines the same operands on several ranks, which may hold them rounded and not rounded.'
  if (request.links === 'kept' && !keepsToLinks(algorithm, size, settings))
    return 'It needs links that a group of this size does not keep open.'
  if (memoryBytes !== undefined) {
    const { one, all } = trafficOf(algorithm, size, settings)
    const needed = (one ?? all()).scratchShare * bytes
    if (needed > memoryBytes)
      return `It needs ${Math.ceil(needed)} bytes of work space, more than ${memoryBytes}.`
  }
  return undefined
}

/**
 * The sum of P contributions takes P - 1 combines. With no more than that, each result is made on one rank, and each
 * partial result is used once.
 */
export function combinesOnce(algorithm: Algorithm, size: number, settings: Settings): boolean {
  const { one, all } = trafficOf(algorithm, size, settings)
  const { combine, ranks } = one ?? all()
  const combined = combine.reduce((sum, share) => sum + share, 0) * (size / ranks)
  return combined < size - 1 + 1e-6
}

function nothingLeft(request: ChoiceRequest, refused: Choice['refused']): string {
  const [first] = refused
  if (refused.length === 1 && first)
    return `${labelOf(first)} cannot be used by ${request.size} ranks in this call: ${first.reason}`
  const named = new Map<string, Set<string>>()
  for (const { algorithm, reason } of refused)
    named.set(reason, (named.get(reason) ?? new Set()).add(algorithm))
  const reasons = [...named].slice(0, 3).map(([reason, names]) => `${[...names].join(', ')}: ${reason}`)
  return `No ${request.collective ?? 'allreduce'} algorithm fits this call of ${request.size} ranks. ${reasons.join(' ') || 'No variant has these settings.'}`
}
