/**
 * One call of a collective, from its number to its report: choose a plan, run it, and when members are lost go on with the
 * survivors as they have agreed.
 */
import type { Clock } from '../base/clock.ts'
import { ArgumentError, EpochError, PeerLostError } from '../base/errors.ts'
import type { Collective } from '../schedule/types.ts'
import type { Codec, FloatArray } from '../wire/codec.ts'
import type { DTypeInfo, NumericArray } from '../wire/dtype.ts'
import { signatureOf } from '../wire/frame.ts'
import type { Operator } from '../wire/resolve.ts'
import type { Adoption } from './adoption.ts'
import type { Agreement } from './agreement.ts'
import type { Call } from './control.ts'
import type { Engine } from './engine.ts'
import type { Moved } from './execution.ts'
import type { Models } from './models.ts'
import { noteFlow } from './notes.ts'
import { choosePlan, choosePlanAnew, type Plan } from './plan.ts'
import { type Attempt, Interruption, type Recovery } from './recovery.ts'
import type { RetainedResults } from './retained.ts'
import type { CollectiveOptions, NonFinitePolicy, Progress, Report } from './types.ts'

/** A message is cut into segments of this many bytes: with 64 KiB messages a data channel is at its plateau. */
export const segmentBytes = 65536 - 64
export const defaultTimeoutMs = 10_000
/** Counts of many ranks are told in part, and the rest by a hash. */
const maxLayoutLength = 600

/** What one rank brings into an attempt of a call, and what it takes out. */
export interface Vector {
  /** Default allreduce. */
  readonly collective?: Collective
  readonly root?: number
  /** Rank k's part of all chunks is elements bounds[k] .. bounds[k + 1]; absent: every rank brings as many, evenly cut. */
  readonly bounds?: readonly number[]
  readonly dtype: DTypeInfo
  readonly data: NumericArray
  /** Where the fold goes; the input is only read. */
  readonly result: NumericArray
  /** This rank gets no result at all. */
  readonly nothing?: boolean
  readonly operator: Operator
  /** Elements of the call, which all ranks agree on, if they are not those of `data`. */
  readonly count?: number
  /** Elements of all chunks together, if they are not those of `data`. */
  readonly total?: number
  /** How elements travel, if not as they are. */
  readonly codec?: Codec | undefined
  /** Gets what this rank rounds away on the wire. */
  readonly residual?: FloatArray | undefined
  /** What all ranks must want to know of values that are not finite, and how many this rank has; absent when nobody asks. */
  readonly nonFinite?: { readonly policy: NonFinitePolicy; readonly note: number } | undefined
}

/** An attempt that has succeeded. */
export interface Attempted {
  readonly report: Omit<Report, 'attempts'>
  /** What the contributors noted, in rank order. */
  readonly notes: Uint32Array | undefined
}

export interface Contribution {
  /**
   * Of the rank in an attempt. Throws ArgumentError where the call does not fit the members, PeerLostError where it cannot do
   * without one that is lost.
   */
  vectorOf(attempt: Attempt): Vector
  /**
   * All ranks end with the same: whoever has the result can pass it on, and survivors can run again. Else the loss of a member ends the
   * call with a PeerLostError on all ranks that have not had their part.
   */
  readonly isAlike: boolean
}

export interface Collected extends Attempted {
  readonly report: Report
}

export interface Running {
  /** Gets the notes of all ranks. */
  readonly notes?: Uint32Array | undefined
  readonly timeoutSeconds: number
  /** Version of the model that the plan was chosen with; empty when none was needed. */
  readonly model?: string
  onComplete?(): void
}

export interface Calls {
  /** A call by the user: gets a number, a plan and, if need be, recovery. */
  collect(contribution: Contribution, options: CollectiveOptions): Promise<Collected>
  /** One attempt of an op that has a number. */
  run(
    op: number,
    attempt: Attempt,
    plan: Plan,
    vector: Vector,
    options: CollectiveOptions,
    running: Running,
  ): Promise<Moved>
}

export function createCalls(config: {
  clock: Clock
  engine: Engine
  agreement: Agreement
  retained: Pick<RetainedResults, 'keep'>
  adoption: Pick<Adoption, 'adopt'>
  models(): Models
  segmentFor(attempt: Attempt): number
  /** As GroupConfig.largestMesh. */
  largestMesh?: number
  onProgress(progress: Progress): void
}): Calls {
  const { clock, engine, agreement, retained, adoption } = config

  const run: Calls['run'] = (op, attempt, plan, vector, options, running) => {
    const { shape } = plan
    const { dtype, codec, residual } = vector
    residual?.fill(0)
    const call: Call = {
      collective: shape.collective,
      name: options.name ?? '',
      dtype: dtype.name,
      count: vector.count ?? vector.data.length,
      layout: layoutOf(vector),
      wire: vector.codec?.name ?? '',
      operator: vector.operator.name,
      nonFinite: vector.nonFinite?.policy ?? '',
      algorithm: `${shape.algorithm} ${JSON.stringify(shape.settings)}`,
      model: running.model ?? '',
    }
    const part = plan.part(attempt.rank)
    const { notes } = running
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
          part,
          offsets: plan.offsets,
          dtype,
          combine: vector.operator.combine,
          input: vector.data,
          result: vector.result,
          codec,
          residual,
          segmentBytes: wholeRecords(config.segmentFor(attempt), vector),
        },
        notes: notes && noteFlow(vector.nonFinite?.note ?? 0, notes, attempt, part.steps.length),
      },
    })
  }

  const attemptOnce = async (
    op: number,
    attempt: Attempt,
    vector: Vector,
    isKept: boolean,
    options: CollectiveOptions,
    left: () => number,
    attempts: number,
  ): Promise<Attempted> => {
    const model = await engine.unlessFailed(op, config.models().before(op, attempt))
    const { collective = 'allreduce', root, bounds, data, dtype, operator, codec, residual, result } = vector
    const size = attempt.members.length
    const choose = attempts > 1 || size === 1 ? choosePlanAnew : choosePlan
    const plan = choose(
      {
        collective,
        root,
        count: vector.total ?? data.length,
        bounds,
        dtype,
        operator,
        codec,
        isNoted: residual !== undefined,
        options,
        largestMesh: config.largestMesh,
      },
      size,
      model,
    )
    const notes = vector.nonFinite && new Uint32Array(size)
    const version = plan.isAutomatic ? String(model.version) : ''
    const moved = await run(op, attempt, plan, vector, options, {
      timeoutSeconds: left(),
      model: version,
      notes,
      ...(isKept && {
        onComplete: () => retained.keep(op, attempt.members, { data: result, notes, epoch: attempt.epoch }),
      }),
    })
    const report = {
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
    return { report, notes }
  }

  return {
    run,
    async collect({ vectorOf, isAlike }, options) {
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
        let vector = vectorOf(attempt)
        for (let attempts = recovery ? 2 : 1; ; attempts++) {
          if (recovery?.kind === 'rerun') {
            if (recovery.lost.length > 0 && (options.onPeerLost === 'abort' || !isAlike))
              throw lostError(op, attempt, recovery)
            // Some may have had their part and gone on: the others cannot run it again among themselves.
            if (!isAlike) throw partedError(op, attempt, recovery.attempt)
            vector = vectorOf(recovery.attempt)
          }
          const here: Attempt = recovery?.attempt ?? attempt
          try {
            const hasNotes = vector.nonFinite !== undefined
            const { report, notes } =
              recovery?.kind === 'adopt'
                ? await adoption.adopt(recovery, vector.result, hasNotes, left(), options.signal)
                : await attemptOnce(op, here, vector, isAlike, options, left, attempts)
            return { report: { ...report, attempts }, notes }
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

function partedError(op: number, began: Attempt, now: Attempt): EpochError {
  const members = now.members.map(({ peerId, name }, rank) => ({ rank, peerId, name }))
  return new EpochError(began.epoch, { epoch: now.epoch, members }, `Two members lost their link in op ${op}`)
}

/** What else the ranks must agree on, in as many characters as a control message has room for. */
function layoutOf({ root, bounds }: Vector): string {
  const lengths = bounds?.slice(1).map((bound, rank) => bound - bounds[rank]!)
  const text = [
    root === undefined ? '' : `root ${root}`,
    lengths ? `counts ${lengths.join(', ')}` : '',
  ].filter(Boolean)
  const whole = text.join(', ')
  return whole.length <= maxLayoutLength
    ? whole
    : `${whole.slice(0, maxLayoutLength)}... (${signatureOf(whole).toString(16)})`
}

function wholeRecords(bytes: number, { dtype, operator }: Vector): number {
  const recordBytes = operator.record * dtype.bytes
  const whole = Math.floor(bytes / recordBytes) * recordBytes
  if (whole > 0) return whole
  throw new ArgumentError('op', `A record of ${recordBytes} bytes does not fit a segment of ${bytes} bytes.`)
}
