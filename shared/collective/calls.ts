/**
 * One call of a collective, from its number to its report: choose a plan, run it, and when members are lost go on with the
 * survivors as they have agreed.
 */
import type { Clock } from '../base/clock.ts'
import { ArgumentError, PeerLostError } from '../base/errors.ts'
import type { Codec, FloatArray } from '../wire/codec.ts'
import { type DTypeInfo, dtypeOf, type NumericArray } from '../wire/dtype.ts'
import { signatureOf } from '../wire/frame.ts'
import type { Operator } from '../wire/resolve.ts'
import { adoptionPart } from './adoption.ts'
import type { Agreement } from './agreement.ts'
import type { Call } from './control.ts'
import type { Engine, OpRequest } from './engine.ts'
import type { Moved } from './execution.ts'
import type { Lane } from './lane.ts'
import type { Models } from './models.ts'
import { choosePlan, choosePlanAnew, type Plan } from './plan.ts'
import { type Attempt, Interruption, type Recovery } from './recovery.ts'
import type { RetainedResults } from './retained.ts'
import type { CollectiveOptions, Progress, Report } from './types.ts'

/** A message is cut into segments of this many bytes: with 64 KiB messages a data channel is at its plateau. */
export const segmentBytes = 65536 - 64
export const defaultTimeoutMs = 10_000

export interface Vector {
  readonly dtype: DTypeInfo
  readonly data: NumericArray
  /** Where the fold goes; the input is only read. */
  readonly result: NumericArray
  readonly operator: Operator
  /** Elements of the caller's vector: `data` may have some more. */
  readonly count?: number
  /** How elements travel, if not as they are. */
  readonly codec?: Codec | undefined
  /** Gets what this rank rounds away on the wire. */
  readonly residual?: FloatArray | undefined
}

export interface Running {
  readonly timeoutSeconds: number
  /** Version of the model that the plan was chosen with; empty when none was needed. */
  readonly model?: string
  onComplete?(): void
}

export interface Calls {
  /** A call by the user: gets a number, a plan and, if need be, recovery. */
  collect(vector: Vector, options: CollectiveOptions): Promise<Report>
  /** One attempt of an op that has a number. */
  run(
    op: number,
    attempt: Attempt,
    plan: Plan,
    vector: Vector,
    options: CollectiveOptions,
    running: Running,
  ): Promise<Moved>
  /** Sends a result that this member keeps to those who lack it. */
  serve(recovery: Recovery): Promise<void>
}

export function createCalls(config: {
  clock: Clock
  engine: Engine
  agreement: Agreement
  retained: RetainedResults
  models(): Models
  lane(peerId: string): Lane | undefined
  onProgress(progress: Progress): void
}): Calls {
  const { clock, engine, agreement, retained } = config

  const segmentFor = (attempt: Attempt) =>
    Math.min(
      segmentBytes,
      ...attempt.members.map(({ peerId }) => config.lane(peerId)?.segmentBytes ?? segmentBytes),
    )

  const run: Calls['run'] = (op, attempt, plan, vector, options, running) => {
    const { shape } = plan
    const { dtype, codec, residual } = vector
    residual?.fill(0)
    const call: Call = {
      collective: shape.collective,
      name: options.name ?? '',
      dtype: dtype.name,
      count: vector.count ?? vector.data.length,
      wire: vector.codec?.name ?? '',
      operator: vector.operator.name,
      algorithm: `${shape.algorithm} ${JSON.stringify(shape.settings)}`,
      model: running.model ?? '',
    }
    return engine.run({
      op,
      attempt,
      call,
      signature: signatureOf(JSON.stringify([attempt.epoch, call])),
      timeoutSeconds: running.timeoutSeconds,
      signal: options.signal,
      execution: {
        algorithm: shape.algorithm,
        settings: shape.settings,
        ...(running.onComplete && { onComplete: running.onComplete }),
        onProgress(progress) {
          config.onProgress(progress)
          options.onProgress?.(progress)
        },
        dataflow: {
          part: plan.part(attempt.rank),
          offsets: plan.offsets,
          dtype,
          combine: vector.operator.combine,
          input: vector.data,
          result: vector.result,
          codec,
          residual,
          segmentBytes: wholeRecords(segmentFor(attempt), vector),
        },
      },
    })
  }

  /** The op is finished somewhere: rank 0 of the attempt passes its result on to the others. */
  const passOn = (
    op: number,
    attempt: Attempt,
    array: NumericArray,
    timeoutSeconds: number,
    hooks: Pick<OpRequest, 'signal'> & { onComplete?(): void },
  ): Promise<Moved> => {
    const dtype = dtypeOf(array)
    const none = dtype.create(0)
    const isSource = attempt.rank === 0
    const call: Call = {
      collective: 'adopt',
      name: '',
      dtype: dtype.name,
      count: array.length,
      wire: '',
      operator: '',
      algorithm: '',
      model: '',
    }
    return engine.run({
      op,
      attempt,
      call,
      signature: signatureOf(JSON.stringify([attempt.epoch, call])),
      timeoutSeconds,
      signal: hooks.signal,
      execution: {
        algorithm: call.collective,
        settings: {},
        onProgress: config.onProgress,
        ...(hooks.onComplete && { onComplete: hooks.onComplete }),
        dataflow: {
          part: adoptionPart(attempt.members.length, attempt.rank),
          offsets: [0, array.length],
          dtype,
          combine: () => {},
          input: isSource ? array : none,
          result: isSource ? none : array,
          segmentBytes: segmentFor(attempt),
        },
      },
    })
  }

  const attemptOnce = async (
    op: number,
    attempt: Attempt,
    vector: Vector,
    options: CollectiveOptions,
    left: () => number,
    attempts: number,
  ): Promise<Omit<Report, 'attempts'>> => {
    const model = await engine.unlessFailed(op, config.models().before(op, attempt))
    const { data, dtype, operator, codec, residual, result } = vector
    const size = attempt.members.length
    const choose = attempts > 1 || size === 1 ? choosePlanAnew : choosePlan
    const plan = choose(
      { count: data.length, dtype, operator, codec, isNoted: residual !== undefined, options },
      size,
      model,
    )
    const version = plan.isAutomatic ? String(model.version) : ''
    const moved = await run(op, attempt, plan, vector, options, {
      timeoutSeconds: left(),
      model: version,
      onComplete: () => retained.keep(op, attempt.epoch, attempt.members, result),
    })
    return {
      op,
      epoch: attempt.epoch,
      contributors: attempt.members,
      algorithm: plan.shape.algorithm,
      settings: plan.shape.settings,
      steps: plan.shape.steps,
      ...moved,
      predictedSeconds: plan.predictedSeconds,
      identical: plan.isIdentical || (!operator.rounds && !codec),
      why: plan.why,
    }
  }

  const adopt = async (
    recovery: Recovery & { kind: 'adopt' },
    { result }: Vector,
    options: CollectiveOptions,
    left: () => number,
  ): Promise<Omit<Report, 'attempts'>> => {
    const { op, attempt, finishedIn, contributors } = recovery
    const moved = await passOn(op, attempt, result, left(), {
      signal: options.signal,
      onComplete: () => retained.keep(op, finishedIn, attempt.members, result),
    })
    return {
      op,
      epoch: attempt.epoch,
      contributors,
      algorithm: 'adopt',
      settings: {},
      steps: 1,
      ...moved,
      predictedSeconds: 0,
      identical: true,
      why: `${attempt.members[0]!.name} had the result already and passed it on.`,
    }
  }

  return {
    run,
    async collect(vector, options) {
      const timeoutSeconds = (options.timeoutMs ?? defaultTimeoutMs) / 1000
      if (!(timeoutSeconds > 0))
        throw new ArgumentError('timeoutMs', 'Pass a positive number of milliseconds.')
      const deadline = clock.now() + timeoutSeconds
      const left = () => deadline - clock.now()
      const {
        op,
        attempt,
        recovery: earlier,
      } = await agreement.number(timeoutSeconds, options.signal, options.epoch)
      let recovery = earlier
      try {
        for (let attempts = recovery ? 2 : 1; ; attempts++) {
          if (
            recovery &&
            recovery.kind === 'rerun' &&
            options.onPeerLost === 'abort' &&
            recovery.lost.length > 0
          )
            throw lostError(op, attempt, recovery)
          const here: Attempt = recovery?.attempt ?? attempt
          try {
            const report =
              recovery?.kind === 'adopt'
                ? await adopt(recovery, vector, options, left)
                : await attemptOnce(op, here, vector, options, left, attempts)
            return { ...report, attempts }
          } catch (error) {
            if (!(error instanceof Interruption)) throw error
          }
          recovery = await engine.unlessFailed(op, agreement.recovery(op, here.epoch, left()))
          engine.resume(op, recovery.attempt)
        }
      } catch (error) {
        // Whatever stops the op here stops it everywhere.
        engine.abandon(op, error instanceof Error ? error : new Error(String(error)))
        throw error
      }
    },
    async serve({ op, attempt }) {
      const kept = retained.get(op)
      if (!kept) return
      engine.resume(op, attempt)
      try {
        await passOn(op, attempt, kept.data, defaultTimeoutMs / 1000, { signal: undefined })
      } catch (error) {
        // The members that lacked the result are gone too, or the next epoch decides anew; this member has its result.
        engine.abandon(op, new Interruption('passing a result on has ended', { cause: error }))
      }
    },
  }
}

function lostError(op: number, began: Attempt, { lost }: Recovery): PeerLostError {
  const [peer] = lost
  const rank = began.members.findIndex((member) => member.peerId === peer!.peerId)
  const names = lost.map((member) => member.name).join(', ')
  return new PeerLostError(`${names} left in op ${op}. The next op runs with the members that remain.`, {
    peer: { rank, peerId: peer!.peerId, name: peer!.name },
    epoch: began.epoch,
  })
}

function wholeRecords(bytes: number, { dtype, operator }: Vector): number {
  const recordBytes = operator.record * dtype.bytes
  const whole = Math.floor(bytes / recordBytes) * recordBytes
  if (whole > 0) return whole
  throw new ArgumentError('op', `A record of ${recordBytes} bytes does not fit a segment of ${bytes} bytes.`)
}
