/**
 * What a call may run: the variants that it leaves open, without those that it forbids and those that are another one
 * under a second name.
 */
import { ArgumentError } from '../base/errors.ts'
import type { Algorithm, Settings } from '../schedule/types.ts'
import { clusterRanks, groupsText } from './cluster.ts'
import type { Compiled } from './compile.ts'
import { labelOf, settingsText } from './explain.ts'
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

type Refusal = Choice['refused'][number]

export const auto = 'auto'

/** @throws ArgumentError when nothing is left; it says what refused each. */
export function findCandidates(
  request: ChoiceRequest,
  model: NetworkModel,
  algorithms: readonly Algorithm[],
): { admitted: readonly AdmittedCandidate[]; refused: readonly Refusal[] } {
  const refused: Refusal[] = []
  const admitted = candidatesOf(request, model, algorithms).filter(({ algorithm, settings }) => {
    const reason = refusalOf(request, algorithm, settings)
    if (reason !== undefined) refused.push({ algorithm: algorithm.name, settings, reason })
    return reason === undefined
  })
  if (admitted.length === 0) throw new ArgumentError('algorithm', nothingLeft(request, refused))
  return { admitted: withoutTwins(request, model, admitted, refused), refused }
}

/** What the call leaves open: all variants of all algorithms, or the open parameters of the named one. */
function candidatesOf(
  request: ChoiceRequest,
  model: NetworkModel,
  algorithms: readonly Algorithm[],
): Candidate[] {
  const { size, collective = 'allreduce', algorithm: name = auto, r } = request
  const given: Settings = { ...request.settings, ...(r !== undefined && { r }) }
  const fixed = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== auto))
  const ofCollective = algorithms.filter((algorithm) => algorithm.collective === collective)
  if (name === auto)
    return ofCollective.flatMap((algorithm) =>
      withFixed(algorithm, withFoundGroups(algorithm, model), fixed).map((settings) => ({
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
function withFoundGroups(algorithm: Algorithm, model: NetworkModel): readonly Settings[] {
  const variants = algorithm.variants(model.size)
  if (!algorithm.parameters.some(({ name }) => name === 'groups')) return variants
  const groups = groupsText(clusterRanks(model))
  return groups === undefined
    ? variants
    : [...variants, ...variants.map((settings) => ({ ...settings, groups }))]
}

/**
 * Schedules that are the same under another name, and on links that are alike also those whose ranks send and combine
 * as much in each step, only to others: the first of them stands for all, if possible one that gives all ranks the
 * same bits. The others are listed as refused. What the call names is never left out.
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
  if (name !== auto) return compared
  const { isAlike } = networkOf(model)
  const twinsOf = ({ graph: { kind, peers } }: AdmittedCandidate) =>
    kind && (isAlike ? kind : `${kind} ${peers}`)
  const isIdentical = (candidate: AdmittedCandidate) =>
    candidate.algorithm.identical(size, candidate.settings)
  const first = new Map<string, AdmittedCandidate>()
  for (const candidate of compared) {
    const twins = twinsOf(candidate)
    const known = twins && first.get(twins)
    if (twins && (!known || (!isIdentical(known) && isIdentical(candidate)))) first.set(twins, candidate)
  }
  return compared.filter((candidate) => {
    const { algorithm, settings } = candidate
    const original = first.get(twinsOf(candidate) ?? '')
    if (!original || original === candidate) return true
    const label = labelOf({ algorithm: original.algorithm.name, settings: original.settings })
    refused.push({
      algorithm: algorithm.name,
      settings,
      reason: `Every rank does the same as with ${label}.`,
    })
    return false
  })
}

/** Why the call does not admit a candidate; undefined when it does. */
function refusalOf(request: ChoiceRequest, algorithm: Algorithm, settings: Settings): string | undefined {
  const { size, bytes, algorithm: name = auto, consistency, rounds, memoryBytes } = request
  const { restrictions } = algorithm
  if (name === auto && algorithm.baseline) return 'A baseline: measured and drawn, never proposed.'
  const reason = algorithm.refuses(size, settings)
  if (reason !== undefined) return reason
  if (!request.commutative && !algorithm.ordered(size, settings))
    return 'It combines in another order than that of the ranks, and the operator is not commutative.'
  if (restrictions.idempotent && !request.idempotent)
    return 'It counts contributions more than once, which only min, max and the like allow.'
  if (restrictions.links === 'all' && request.links === 'some')
    return 'It needs a link between every two ranks.'
  if (consistency === 'identical' && rounds && !algorithm.identical(size, settings))
    return "Ranks may differ in the last bits of a float result; consistency 'fast' admits it."
  if (request.once && !combinesOnce(algorithm, size, settings))
    return 'It combines the same operands on several ranks, which may hold them rounded and not rounded.'
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
  const reasons = [...new Set(refused.map(({ reason }) => reason))].slice(0, 3).join(' ')
  return `No ${request.collective ?? 'allreduce'} algorithm fits this call of ${request.size} ranks. ${reasons || 'No variant has these settings.'}`
}
