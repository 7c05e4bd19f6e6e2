/** Schedules, proofs and prices without a group: for teaching, for tools, and to try what a call would do among P ranks. */
import { ArgumentError } from '../base/errors.ts'
import type { Choice, NetworkModel } from '../cost/types.ts'
import { buildSchedule } from '../schedule/build.ts'
import { algorithms, findAlgorithm } from '../schedule/registry.ts'
import { parseSchedule, serializeSchedule } from '../schedule/serialize.ts'
import { type Verification, type VerifyOptions, verifySchedule } from '../schedule/verify.ts'
import { predictCall } from './plan.ts'
import type { PlanRequest } from './types.ts'

export interface SizedRequest extends PlanRequest {
  /** Ranks. */
  readonly size: number
  /** Links that were measured, such as `group.model` of as many ranks. Default: a guess of a local network. */
  readonly model?: NetworkModel
}

/**
 * What `predict` of a group of `size` says: the choice, the price of every candidate, and why.
 * @throws {ArgumentError} nothing that exists admits the call; the message says what refused each.
 */
export function predict({ size, model, ...request }: SizedRequest): Choice {
  assertWhole('size', size, 1)
  assertWhole('count', request.count, 0)
  if (model && model.size !== size)
    throw new ArgumentError('model', `The model is of ${model.size} ranks, not of ${size}.`)
  return predictCall(request, size, model)
}

function assertWhole(argument: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new ArgumentError(argument, `Pass a whole number, at least ${least}, not ${value}.`)
}

/**
 * The schedule of all ranks that such a call would run, as plain data: the JSON form of docs/schedule-format.md.
 * @throws {ArgumentError} as `predict` does.
 */
export function plan(request: SizedRequest): ReturnType<typeof serializeSchedule> {
  const { algorithm, settings } = predict(request).chosen
  return serializeSchedule(
    buildSchedule(findAlgorithm(algorithm, request.collective ?? 'allreduce'), request.size, settings),
  )
}

/**
 * Proves a schedule in its JSON form, by symbols: messages pair up, and every rank ends with what the collective promises, each contribution exactly
 * once. Where a contribution may be counted again (`idempotent`, for min and max) is as the algorithm of that name says, unless told.
 * @throws {ScheduleError} it is no schedule, or it is wrong; names rank and step of the first fault.
 */
export function verify(schedule: unknown, options?: VerifyOptions): Verification {
  const parsed = parseSchedule(schedule)
  const known = algorithms.find(
    ({ name, collective }) => name === parsed.algorithm && collective === parsed.collective,
  )
  return verifySchedule(parsed, options ?? { idempotent: known?.restrictions.idempotent ?? false })
}
