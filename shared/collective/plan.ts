/** From a call to what will run: the algorithm and its settings, chosen or named, and where the chunks lie. */
import { ArgumentError } from '../base/errors.ts'
import { combinesOnce } from '../cost/candidates.ts'
import { type Chosen, chooseSchedule } from '../cost/choose.ts'
import { guessModel } from '../cost/fit.ts'
import type { ChoiceRequest, NetworkModel } from '../cost/types.ts'
import { buildPart, completeSettings } from '../schedule/build.ts'
import { meshSize } from '../schedule/links.ts'
import { chunkBounds, offsetsByRank } from '../schedule/partition.ts'
import { algorithms } from '../schedule/registry.ts'
import type { Algorithm, Collective, RankSchedule, ScheduleShape, Settings } from '../schedule/types.ts'
import { type Codec, codecOf } from '../wire/codec.ts'
import { type DTypeInfo, dtypes } from '../wire/dtype.ts'
import { type Operator, resolveOperator } from '../wire/resolve.ts'
import type { Choice, CollectiveOptions, PlanRequest } from './types.ts'

export interface Plan {
  readonly shape: ScheduleShape
  readonly offsets: ArrayLike<number>
  readonly isIdentical: boolean
  /** Chosen from the model, so that every rank needs the same model. */
  readonly isAutomatic: boolean
  readonly predictedSeconds: number
  readonly why: string
  part(rank: number): RankSchedule
}

export interface PlanInput {
  /** Default allreduce. */
  readonly collective?: Collective
  readonly root?: number | undefined
  /** Elements of all chunks together. */
  readonly count: number
  /** Rank k's part of them is bounds[k] .. bounds[k + 1], where it is not as even as can be. */
  readonly bounds?: readonly number[] | undefined
  readonly dtype: DTypeInfo
  readonly operator: Operator
  /** How elements travel, if not as they are. */
  readonly codec?: Codec | undefined
  /** What is rounded on the way is noted. */
  readonly isNoted?: boolean
  readonly options: Pick<CollectiveOptions, 'algorithm' | 'r' | 'settings' | 'consistency'>
  /** Larger groups have only some links (schedule/links.ts). Default meshSize. */
  readonly largestMesh?: number | undefined
}

/** Throws ArgumentError when the call names an algorithm or settings that this size does not admit. */
export function choosePlan(input: PlanInput, size: number, model: NetworkModel): Plan & { choice: Choice } {
  const { collective, root, count, bounds, dtype, operator, codec, isNoted = false, options } = input
  const { algorithm = 'auto', r, consistency = 'identical' } = options
  const settings = root === undefined ? options.settings : { ...options.settings, root }
  const request: ChoiceRequest = {
    size,
    ...(collective && { collective }),
    bytes: codec?.encodedBytes(count) ?? count * dtype.bytes,
    rounds: operator.rounds,
    commutative: operator.commutative,
    idempotent: operator.idempotent,
    // Ranks that combine what others have rounded, or the same rounding noted twice, would not end alike.
    ...(codec && (isNoted || consistency === 'identical') && { once: true }),
    consistency,
    algorithm,
    ...(r !== undefined && { r }),
    ...(settings && { settings }),
    ...(size > (input.largestMesh ?? meshSize) && { links: 'kept' }),
  }
  const choice = chooseOnLinks(request, model)
  const block = codec?.block ?? operator.record
  const plan = planOf(choice.algorithm, choice.chosen.settings, size, count, block)
  const blocks = bounds?.map((bound) => bound / block)
  return {
    ...plan,
    ...(blocks && { offsets: offsetsByRank(plan.shape, blocks).map((offset) => offset * block) }),
    ...(codec && { isIdentical: combinesOnce(choice.algorithm, size, choice.chosen.settings) }),
    isAutomatic: algorithm === 'auto' || r === 'auto',
    predictedSeconds: choice.chosen.seconds,
    why: choice.why,
    choice,
  }
}

/** Some calls, of a root in the middle of a large group, need a few links that it does not keep: they are opened for them. */
function chooseOnLinks(request: ChoiceRequest, model: NetworkModel): Chosen {
  try {
    return chooseSchedule(request, model)
  } catch (error) {
    if (request.links !== 'kept' || request.algorithm !== 'auto') throw error
    return chooseSchedule({ ...request, links: 'some' }, model)
  }
}

/** What a call would cost in a group of `size`; with no model of such a group, by the guess. */
export function predictCall(request: PlanRequest, size: number, model: NetworkModel | undefined): Choice {
  const dtype = dtypes[request.dtype ?? 'f32']
  const operator = resolveOperator(request.op ?? 'sum', dtype)
  const codec = codecOf(request.wire, dtype.name, isFolded(request.collective) ? operator.name : undefined)
  const { block } = codec ?? { block: 1 }
  const { collective, root = 0 } = request
  const total = collective ? totalOf(collective, request.count, size) : request.count
  const count = Math.ceil(total / block) * block
  const known = model?.size === size ? model : guessModel(size)
  const call = { count, dtype, operator, codec, options: request }
  if (!collective) return choosePlan(call, size, known).choice
  return choosePlan({ ...call, collective, ...(isRooted(collective) && { root }) }, size, known).choice
}

/** Its ranks combine what they bring in; else elements only move. */
export const isFolded = (collective: Collective = 'allreduce') =>
  ['allreduce', 'reduce', 'reduceScatter'].includes(collective)

export const isRooted = (collective: Collective) =>
  ['broadcast', 'reduce', 'gather', 'scatter'].includes(collective)

/** Elements of all chunks together when every rank passes `own`: of one vector, or of what all bring in. */
export const totalOf = (collective: Collective, own: number, size: number) =>
  ['allgather', 'gather', 'alltoall'].includes(collective) ? own * size : own

/**
 * The plan after the group has become smaller: what the call asked for where the new size admits it, else the best. A lone rank has
 * nothing to send, so any settings will do.
 */
export function choosePlanAnew(input: PlanInput, size: number, model: NetworkModel): Plan {
  try {
    return choosePlan(input, size, model)
  } catch (error) {
    const { algorithm, consistency } = input.options
    const isRegistered = algorithm === undefined || algorithms.some(({ name }) => name === algorithm)
    if (!(error instanceof ArgumentError) || !isRegistered) throw error
    return choosePlan({ ...input, options: consistency ? { consistency } : {} }, size, model)
  }
}

/** Programs make the same call again and again: what a rank does in it is built once. */
const parts = new WeakMap<Algorithm, Map<string, RankSchedule>>()
const maxParts = 64

function partOf(algorithm: Algorithm, size: number, settings: Settings, rank: number): RankSchedule {
  const byKey = parts.get(algorithm) ?? new Map<string, RankSchedule>()
  parts.set(algorithm, byKey)
  const key = `${size} ${rank} ${JSON.stringify(settings)}`
  const known = byKey.get(key)
  if (known) return known
  if (byKey.size >= maxParts) byKey.clear()
  const part = buildPart(algorithm, size, settings, rank)
  byKey.set(key, part)
  return part
}

/** Chunks are whole blocks of `block` elements. */
export function planOf(
  algorithm: Algorithm,
  settings: Settings,
  size: number,
  count: number,
  block = 1,
): Plan {
  const complete = completeSettings(algorithm, size, settings)
  const shape = algorithm.shape(size, complete)
  return {
    shape,
    offsets: chunkBounds(shape, count / block).map((bound) => bound * block),
    isIdentical: algorithm.identical(size, complete),
    isAutomatic: false,
    predictedSeconds: 0,
    why: '',
    part: (rank) => partOf(algorithm, size, complete, rank),
  }
}
